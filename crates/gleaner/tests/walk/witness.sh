#!/bin/bash
# One run of a task that leaves witness of itself: counts from where it stopped to GOAL, in steps of PAUSE seconds.
# Whoever is told to stop takes FAREWELL seconds for it.
# usage: witness.sh FOLDER TASK GOAL PAUSE [FAREWELL]
folder=$1 task=$2 goal=$3 pause=$4 farewell=${5:-0}
witness="$folder/$task"
# Nobody else runs this task meanwhile: the lock is held until the last process of this run is gone.
exec 9>"$witness.lock"
flock -n 9 || { echo "overlap $GLEANER_ATTEMPT" >>"$witness"; exit 99; }
counts=${GLEANER_CHECKPOINT:+$GLEANER_CHECKPOINT/counts}
n=0
if [ -n "$counts" ] && [ -f "$counts" ]; then n=$(tail -n 1 "$counts"); fi
echo "start $GLEANER_ATTEMPT $n" >>"$witness"
trap 'sleep "$farewell"; exit 143' TERM
while [ "$n" -lt "$goal" ]; do
    sleep "$pause"
    n=$((n + 1))
    if [ -n "$counts" ]; then echo "$n" >>"$counts"; fi
    echo "step $GLEANER_ATTEMPT $n" >>"$witness"
done
echo "end $GLEANER_ATTEMPT $n" >>"$witness"
echo "task $task counted to $n"
