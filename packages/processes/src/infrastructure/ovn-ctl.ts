import { type Program, SystemError } from '@openstack-operator/sandbox';
import { parseCommandLine } from '../command-line.ts';
import { CommandError, command, makeDirectories, notModelled } from '../program-support.ts';
import { rootRow } from './ovsdb.ts';
import { createCluster, isKnown, joinCluster } from './ovsdb-raft.ts';
import { databaseAt, serveDatabases } from './ovsdb-server.ts';

/** Options with `X` for the side; then those of both. */
const known = `db-X-addr db-X-port db-X-file db-X-sock db-X-pidfile db-X-schema db-X-cluster-local-addr
  db-X-cluster-local-port db-X-cluster-local-proto db-X-cluster-remote-addr db-X-cluster-remote-port
  db-X-cluster-remote-proto db-X-create-insecure-remote db-X-sync-from-addr db-X-sync-from-port
  db-X-sync-from-proto db-X-use-remote-in-db db-X-election-timer db-X-probe-interval-to-active ovn-X-log
  ovn-X-logfile ovn-X-db ovn-X-db-ssl-key ovn-X-db-ssl-cert ovn-X-db-ssl-ca-cert ovn-X-options db-X-detach
  ovn-X-wrapper`.split(/\s+/);
const common = `ovn-user ovs-user ovn-dir ovn-northd-log ovn-northd-logfile ovn-manage-ovsdb dbs-options
  db-cluster-schema-upgrade`.split(/\s+/);

/** `/usr/share/ovn/scripts/ovn-ctl run_nb_ovsdb` and `run_sb_ovsdb`: one database server in the foreground. */
export const ovnCtl: Program = command(async (process) => {
  const names = [...['nb', 'sb'].flatMap((side) => known.map((name) => name.replace('X', side))), ...common];
  const given = process.argv.slice(1);
  const unknown = given.find((word) => word.startsWith('--') && !names.includes(word.slice(2).split('=')[0] ?? ''));
  if (unknown !== undefined)
    throw new CommandError(`/usr/share/ovn/scripts/ovn-ctl: unknown option "${unknown}" (use --help for help)`);
  const line = parseCommandLine(given, { optional: names.join(' ') });
  const [verb] = line.operands;
  const side = verb === 'run_nb_ovsdb' ? 'nb' : verb === 'run_sb_ovsdb' ? 'sb' : undefined;
  if (side === undefined) {
    if (verb === undefined)
      throw new CommandError('/usr/share/ovn/scripts/ovn-ctl: missing command name (use --help for help)');
    notModelled(process, `the command ${verb}`);
  }
  const option = (name: string): string | undefined => line.value(`db-${side}-${name}`);
  const directory = process.env['OVN_RUNDIR'] ?? '/run/ovn';
  const file = option('file') ?? `/var/lib/ovn/ovn${side}_db.db`;
  const socket = option('sock') ?? `${directory}/ovn${side}_db.sock`;
  const name = side === 'nb' ? 'OVN_Northbound' : 'OVN_Southbound';
  try {
    makeDirectories(process, directory);
    makeDirectories(process, file.slice(0, file.lastIndexOf('/')));
    const database = databaseAt(process, file, name);
    const raftPort = side === 'nb' ? 6643 : 6644;
    const [local, remote] = ['local', 'remote'].map((end) => {
      const host = option(`cluster-${end}-addr`);
      return host && `tcp:${host}:${option(`cluster-${end}-port`) ?? raftPort}`;
    });
    // What is a member stays one, under the address that it began with.
    if (local !== undefined && database.raft === undefined) {
      if (remote === undefined) createCluster(process, database, local);
      else joinCluster(process, database, local, [remote]);
    }
    if (isKnown(database)) rootRow(database);
    const port = option('port') ?? (side === 'nb' ? '6641' : '6642');
    const insecure = option('create-insecure-remote') === 'yes';
    const remotes = [
      `punix:${socket}`,
      ...(option('use-remote-in-db') === 'no' ? [] : [`db:${name},${side.toUpperCase()}_Global,connections`]),
    ];
    if (insecure) remotes.push(`ptcp:${port}:${option('addr')?.replace(/^\[|\]$/g, '') ?? '0.0.0.0'}`);
    const pidfile = option('pidfile') ?? `${directory}/ovn${side}_db.pid`;
    const pathOf = (name: string) => line.value(`ovn-${side}-db-ssl-${name}`);
    const certificates = { certificate: pathOf('cert'), key: pathOf('key'), authority: pathOf('ca-cert') };
    const daemon = parseCommandLine([`--pidfile=${pidfile}`, `--unixctl=${directory}/ovn${side}_db.ctl`], {
      optional: 'pidfile',
      values: 'unixctl',
    });
    return await serveDatabases(process, [database], { remotes, directory, line: daemon, certificates });
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new CommandError(`ovsdb-server: I/O error: ${file}: ${error.reason}`);
  }
});
