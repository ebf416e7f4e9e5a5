import os
import signal
import threading

import pytest

from pooldiag.execute.interrupts import SIGNALS, interruptible


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_becomes_a_wish_and_wakes_a_wait(number: signal.Signals) -> None:
    with interruptible() as interrupts:
        assert interrupts.count == 0
        os.kill(os.getpid(), number)
        assert interrupts.count == 1
        assert os.read(interrupts.descriptor, 10) == b"!"
        interrupts.drain()


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with interruptible():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_third_wish_raises_where_it_stands() -> None:
    with interruptible() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.count == 3


def test_what_nohup_ignores_stays_ignored_and_a_background_job_can_be_interrupted() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with interruptible() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.count == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.count == 1
    assert all(signal.getsignal(number) is signal.SIG_IGN for number in SIGNALS)


def test_outside_the_main_thread_there_are_no_wishes() -> None:
    counts: list[int] = []

    def work() -> None:
        with interruptible() as interrupts:
            counts.append(interrupts.count)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counts == [0]
