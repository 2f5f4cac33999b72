/** Is there until the broker's first start is complete. */
export const firstStart = '/var/lib/rabbitmq/first-start';

/** What every start begins with. */
export const prepare = `# Erlang wants its cookie as a file that only its owner can read.
cookie=/var/lib/rabbitmq/.erlang.cookie
umask 077
rm -f "$cookie"
cat /etc/openstack/erlang-cookie/cookie > "$cookie"
chmod 400 "$cookie"
# Some container runtimes grant a billion open files, for which Erlang makes tables, others a thousand.
ulimit -n 65536 2> /dev/null || ulimit -Sn "$(ulimit -Hn)"
# A broker that ends while it makes its tables waits for the missing ones at every later start. Until its first start is
# complete nobody has been served, and it begins anew.
first=${firstStart}
`;

/** The start of a single broker. */
export const startSingle = `${prepare}if [ -e "$first" ] || [ ! -e "$RABBITMQ_MNESIA_BASE" ]; then
  touch "$first"
  rm -rf "\${RABBITMQ_MNESIA_BASE:?}"
  { until rabbitmqctl -q await_startup > /dev/null 2>&1; do sleep 1; done; rm "$first"; } &
fi
exec /usr/lib/rabbitmq/bin/rabbitmq-server
`;
