#!/bin/sh
# A harness in plain sh that can be asked for its cases, and to run some of them in any order.
#
#     pooldiag bisect --framework listfile examples/listfile/checks.sh

count() { echo $#; }

three_words() { [ "$(count $(echo a b c))" = 3 ]; }
passwd_fields() { IFS=:; set -- $(echo root:x:0); [ "$1" = root ]; } # leaves IFS changed behind it
no_word() { [ "$(count $(echo))" = 0 ]; }
two_words() { [ "$(count $(echo a b))" = 2 ]; }
every_case='three_words passwd_fields no_word two_words'

list='' report=/dev/null cases=''
for word; do
    case $word in
    --list-cases=*) list=${word#*=} ;;
    --report=*) report=${word#*=} ;;
    --run-cases=*) cases=$(cat "${word#*=}") ;;
    --case=*) cases="$cases ${word#*=}" ;;
    esac
done

if [ "$list" ]; then
    { printf 'case %s\n' $every_case; echo end; } >"$list"
    exit
fi

code=0
for name in ${cases:-$every_case}; do
    echo "begin $name" >>"$report"
    if "$name"; then
        echo pass >>"$report"
    else
        echo "fail $name is false" | tee -a "$report"
        code=1
    fi
done
echo end >>"$report"
exit $code
