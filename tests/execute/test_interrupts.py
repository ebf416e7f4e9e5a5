import ctypes
import os
import select
import signal
import threading
import time

import pytest

from pooldiag.execute.interrupts import SIGNALS, Bell, Interrupts, interruptible
from tests.execute.helpers import LIMIT_SECONDS, wait_until


def is_ringing(bell: Bell) -> bool:
    return bool(select.select([bell.descriptor], [], [], 0)[0])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_counted_and_rings(number: signal.Signals) -> None:
    before = threading.active_count()
    with interruptible() as interrupts:
        bell = interrupts.bell()
        assert interrupts.count == 0
        assert not is_ringing(bell)
        os.kill(os.getpid(), number)
        assert interrupts.count == 1
        assert is_ringing(bell)
    assert threading.active_count() == before


def test_each_who_waits_has_a_bell_of_its_own() -> None:
    interrupts = Interrupts()
    bells = [interrupts.bell() for _ in range(3)]
    for _ in range(2):
        interrupts.note(signal.SIGINT, None)
        for bell in bells:
            assert is_ringing(bell)
            bell.drain()
            assert not is_ringing(bell)
            bell.drain()
    interrupts.close()


def test_a_signal_is_heard_while_the_main_thread_waits_for_another_one() -> None:
    libc, mutex, about_to_wait = ctypes.CDLL(None), ctypes.create_string_buffer(64), threading.Event()
    counts: list[int] = []

    def work() -> None:
        about_to_wait.wait(LIMIT_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            wait_until(lambda: interrupts.count, "the signal is heard")
            counts.append(interrupts.count)
        finally:
            libc.pthread_mutex_unlock(mutex)

    with interruptible() as interrupts:
        thread = threading.Thread(target=work)
        thread.start()
        libc.pthread_mutex_lock(mutex)
        about_to_wait.set()
        libc.pthread_mutex_lock(mutex)  # no signal ends this wait, so no handler runs
        thread.join()
        assert counts == [1]
        assert interrupts.count == 1  # heard of twice, it is still one


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with interruptible():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_a_third_interrupt_raises_where_it_stands_and_leaves_time_to_clean_up_after_it() -> None:
    with interruptible() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.count == 5
        time.sleep(0.6)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_what_nohup_ignores_stays_ignored_and_a_background_job_can_be_interrupted() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with interruptible() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.count == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.count == 1
    assert all(signal.getsignal(number) is signal.SIG_IGN for number in SIGNALS)


def test_outside_the_main_thread_nothing_is_counted() -> None:
    counts: list[int] = []

    def work() -> None:
        with interruptible() as interrupts:
            counts.append(interrupts.count)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counts == [0]
