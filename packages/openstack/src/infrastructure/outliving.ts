/** Finds the process that an earlier container of the node has left: its pid, and whether it still runs. */
export const former = (program: string) => `pidfile=/run/libvirt/${program}.pid
pid=$(cat "$pidfile" 2> /dev/null) || pid=
runs() { [ -n "$1" ] && [ "$(cat "/proc/$1/comm" 2> /dev/null)" = ${program} ]; }
`;

/** Ends that process, if it runs. */
export const endFormer = (program: string) => `${former(program)}seconds=0
while runs "$pid"; do
  echo "${program} $pid has outlived its container: it is ended"
  if [ "$seconds" -lt 20 ]; then kill "$pid" || true; else kill -KILL "$pid" || true; fi
  seconds=$((seconds + 1))
  sleep 1
done
rm -f "$pidfile"
`;
