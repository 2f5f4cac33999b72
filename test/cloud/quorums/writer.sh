# Writes a row a few times a second for $1 seconds by the address that clients have, and prints how many were acknowledged,
# and the longest time in ms between two that were.
password=$(cat /etc/openstack/root/password)
ask() { timeout 8 mariadb -h "$2" -uroot "-p$password" --connect-timeout=2 -BNe "$1" > /dev/null 2>&1; }
ask "DROP DATABASE IF EXISTS quorum; CREATE DATABASE quorum; CREATE TABLE quorum.written (id INT AUTO_INCREMENT PRIMARY KEY)" "$2"
now() { date +%s%3N; }
end=$(($(now) + $1 * 1000)) last=$(now) acknowledged=0 longest=0
while [ "$(now)" -lt "$end" ]; do
  if ask 'INSERT INTO quorum.written VALUES ()' "$2"; then
    acknowledged=$((acknowledged + 1))
    gap=$(($(now) - last))
    last=$(now)
    if [ "$gap" -gt "$longest" ]; then longest=$gap; fi
  fi
  sleep 0.2
done
echo "$acknowledged $longest"
