/**
 * Users put passwords of their own into generated Secrets, too. Quotes would end the text that holds one, backslashes
 * change what follows, a newline ends a statement of the init file; `$(...)` would strip the last one. SQL and option
 * files read the same escapes.
 */
const escaped = String.raw`password=$(sed -z -e 's/\\/\\\\/g' -e "s/'/\\\\'/g" -e 's/"/\\"/g' -e 's/\n/\\n/g' /etc/openstack/root/password)`;

/** Shell: makes the system tables on an empty volume, of which `$data` is the directory. */
export const prepareServer = `if [ ! -d "$data/mysql" ]; then
  if [ -e "$data" ] && ! rmdir "$data"; then
    echo "$data holds files, but no tables of the server: restore them, or delete it if there never were any" >&2
    exit 1
  fi
  # Beside its place, and moved there when it is whole and on the disk: the server never starts with what is left when
  # the pod ends before.
  rm -rf "$data.new"
  mariadb-install-db --datadir="$data.new" --skip-test-db --auth-root-authentication-method=normal
  sync -f "$data.new"
  mv "$data.new" "$data"
  sync -f "$data"
fi`;

/**
 * Shell: sets root's password, and becomes the server.
 * @param first statements before all others
 * @param accounts statements that make further accounts
 * @param more further arguments of the server, with a space before each
 */
export function becomeServer({ first = '', accounts = '', more = '' }): string {
  return `# Of a coordinator's log that a full disk kept from being written not even the header is there: it holds nothing, and the
# server refuses to start with it for ever (seen live).
if [ -f "$data/tc.log" ] && [ -z "$(head -c 4 "$data/tc.log" | tr -d '\\0')" ]; then rm "$data/tc.log"; fi
umask 077
${escaped}
cat > /run/mysqld/init.sql <<END
${first}ALTER USER root@localhost IDENTIFIED BY '$password';
DROP USER IF EXISTS root@'127.0.0.1';
DROP USER IF EXISTS root@'::1';
DROP USER IF EXISTS root@'$(hostname)';
CREATE USER IF NOT EXISTS root@'%' IDENTIFIED BY '$password';
ALTER USER root@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;
${accounts}END
cat > /run/mysqld/probe.cnf <<END
[client]
user=root
password="$password"
socket=/run/mysqld/mysqld.sock
END
exec mariadbd --defaults-file=/etc/openstack/my.cnf --init-file=/run/mysqld/init.sql${more}
`;
}
