import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { CommandError, command, nameOf, notModelled, pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { ip } from './ip-command.ts';
import { refusals, refuseTaken } from './ovs-interfaces.ts';
import {
  connectOvsdb,
  mapOf,
  type OvsDatabase,
  type OvsRow,
  ovsDatabases,
  ovsTable,
  requestTakeover,
  rootRow,
  transact,
} from './ovsdb.ts';

/** One command of a line such as `ovs-vsctl --may-exist add-br x -- set bridge x ...`. */
interface Step {
  readonly options: ReadonlySet<string>;
  readonly words: readonly string[];
}

/** Debian's packages know the sockets below /var/run, which is the same directory. */
function compiledIn(remote: string): string {
  return remote.replace(/^unix:\/run\//, 'unix:/var/run/');
}

const globalFlags =
  '--no-wait --oneline --no-leader-only --leader-only --no-headings --bare --retry --no-shuffle-remotes --dry-run'.split(
    ' ',
  );
const globalValues = '--db --timeout -t --inactivity-probe -v --verbose --columns --format -f'.split(' ');

function control(database: OvsDatabase['name']): Program {
  const { variable, socket } = ovsDatabases[database];
  const isSwitch = database === 'Open_vSwitch';
  return command(async (process) => {
    const words = process.argv.slice(1);
    const found = new Map<string, string>();
    while (words[0]?.startsWith('-') && words[0] !== '--') {
      const [name = '', value] = words[0].split(/=(.*)/s);
      if (globalValues.includes(name)) {
        words.shift();
        found.set(name, value ?? (name.startsWith('-v') ? '' : (words.shift() ?? '')));
      } else if (globalFlags.includes(name)) {
        words.shift();
        found.set(name, '');
      } else if (name.startsWith('-v')) words.shift();
      else break;
    }
    const steps = stepsOf(words);
    if (steps.length === 0) throw new CommandError(`${nameOf(process)}: missing command name (use --help for help)`);
    const remote = found.get('--db') ?? process.env[variable] ?? socket;
    const timeout = found.get('--timeout') ?? found.get('-t');
    if (timeout !== undefined && !/^0*[1-9]\d*$/.test(timeout)) {
      throw new CommandError(`${nameOf(process)}: value ${timeout} on -t or --timeout is invalid`);
    }
    const limit = Number(timeout ?? 0) * 1000;
    // However short: a script that asks again and again lets time pass.
    await pause(process, startTimes.ovsControl);
    const began = process.clock.monotonic();
    const expired = (): boolean => limit > 0 && process.clock.monotonic() - began >= limit;
    for (;;) {
      try {
        return await run(process, database, remote, steps, found, expired);
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        // The ovn tools wait for their database; ovs-vsctl gives up unless --retry.
        if (isSwitch ? !found.has('--retry') : remote.startsWith('unix:')) {
          const shown = isSwitch ? compiledIn(remote) : remote;
          throw new CommandError(`${nameOf(process)}: ${shown}: database connection failed (${error.reason})`);
        }
      }
      if (expired() || !(await pause(process, 1000))) return alarm(process);
    }
  });
}

/** SIGALRM of --timeout. */
function alarm(process: Process): number {
  process.stderr(`${nameOf(process)}: terminating with signal 14 (Alarm clock)\n`);
  return 142;
}

function stepsOf(words: readonly string[]): Step[] {
  const steps: Step[] = [];
  let current: string[] = [];
  const flush = (): void => {
    const options = current.filter((word) => word.startsWith('--'));
    const rest = current.filter((word) => !word.startsWith('--'));
    if (rest.length > 0)
      steps.push({ options: new Set(options.map((option) => option.split('=')[0] ?? '')), words: rest });
    current = [];
  };
  for (const word of words) {
    if (word === '--') flush();
    else current.push(word);
  }
  flush();
  return steps;
}

async function run(
  process: Process,
  name: OvsDatabase['name'],
  remote: string,
  steps: readonly Step[],
  found: ReadonlyMap<string, string>,
  expired: () => boolean,
): Promise<number> {
  const connection = await connectOvsdb(process, remote);
  let output = '';
  let changes = false;
  const isSwitch = name === 'Open_vSwitch';
  const made: string[] = [];
  const wanted = await transact(connection, name, (database) => {
    for (const step of steps) {
      const said = execute(process, database, step, found.get('--inactivity-probe'));
      output += said.output;
      changes ||= said.changes;
      made.push(...(said.made ?? []));
    }
    return isSwitch && changes ? requestTakeover(database) : 0;
  });
  process.stdout(output);
  // Without --no-wait a change is done when ovs-vswitchd has taken it over.
  const waits = isSwitch && changes && !found.has('--no-wait');
  for (;;) {
    if (!waits) break;
    const done = await transact(connection, name, (database) => Number(rootRow(database)['cur_cfg'] ?? 0));
    if (done >= wanted) break;
    if (expired()) return alarm(process);
    if (!(await pause(process, 100))) return 143;
  }
  if (waits) for (const line of await refusals(connection, made)) process.stderr(`${nameOf(process)}: ${line}\n`);
  connection.close();
  return 0;
}

interface Said {
  readonly output: string;
  readonly changes: boolean;
  /** Interfaces that it has added. */
  readonly made?: readonly string[];
}

const done: Said = { output: '', changes: true };
const said = (output: string): Said => ({ output, changes: false });
const linesOf = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

function execute(process: Process, database: OvsDatabase, { options, words }: Step, probe: string | undefined): Said {
  const name = nameOf(process);
  const [verb = '', ...operands] = words;
  const [first = '', second = ''] = operands;
  const bridges = ovsTable(database, 'Bridge');
  const ports = ovsTable(database, 'Port');
  const interfaces = ovsTable(database, 'Interface');
  switch (verb) {
    case 'init':
    case 'sync':
      rootRow(database);
      return said('');
    case 'show':
      return said(show(database));
    case 'add-br':
      if (bridges.has(first) && options.has('--may-exist')) return said('');
      refuseTaken(`${name}: cannot create a bridge named ${first}`, database, first);
      bridges.set(first, { name: first, external_ids: {}, other_config: {} });
      return done;
    case 'list-br':
      return said(linesOf([...bridges.keys()].sort()));
    case 'add-port': {
      const there = ports.get(second)?.['bridge'] as string | undefined;
      if (there !== undefined && options.has('--may-exist')) {
        if (there === first) return said('');
        throw new CommandError(
          `${name}: "--may-exist add-port ${first} ${second}" but ${second} is actually attached to bridge ${there}`,
        );
      }
      refuseTaken(`${name}: cannot create a port named ${second}`, database, second);
      if (!bridges.has(first)) throw new CommandError(`${name}: no bridge named ${first}`);
      ports.set(second, { name: second, bridge: first, external_ids: {} });
      interfaces.set(second, { name: second, external_ids: {} });
      return { ...done, made: [second] };
    }
    case 'port-to-br': {
      const port = ports.get(first);
      if (port === undefined) throw new CommandError(`${name}: no port named ${first}`);
      return said(`${String(port['bridge'])}\n`);
    }
    case 'find': {
      const [, key = '', value] = /^external_ids:([^=]+)=(.*)$/.exec(second) ?? notModelled(process, second);
      const found = [...ports.values()].filter((row) => mapOf(row, 'external_ids')[key] === value);
      return said(found.map((row) => `${String(row['name'])}\n`).join('\n'));
    }
    case 'del-port': {
      const port = second === '' ? first : second;
      if (!ports.delete(port) && !options.has('--if-exists')) throw new CommandError(`${name}: no port named ${port}`);
      interfaces.delete(port);
      return done;
    }
    case 'list-ports':
      return said(linesOf([...ports].filter(([, port]) => port['bridge'] === first).map(([port]) => port)));
    case 'set':
    case 'remove':
    case 'clear':
    case 'get':
    case 'list':
      return record(process, database, verb, operands, options);
    case 'set-connection':
    case 'set-manager': {
      const table = ovsTable(database, verb === 'set-manager' ? 'Manager' : 'Connection');
      table.clear();
      for (const target of operands)
        table.set(target, { target, ...(probe !== undefined && { inactivity_probe: Number(probe) }) });
      return done;
    }
    case 'set-ssl': {
      const [key, certificate, authority] = operands;
      ovsTable(database, 'SSL').set('.', { private_key: key, certificate, ca_cert: authority });
      return done;
    }
    case 'chassis-del':
      ovsTable(database, 'Chassis').delete(first);
      return done;
    default:
      return notModelled(process, `the command ${verb}`);
  }
}

/** Table names may be given in any case and without `_`; `.` is the only row of the root table. */
function rowOf(
  process: Process,
  database: OvsDatabase,
  table: string,
  id: string,
  tolerant: boolean,
): OvsRow | undefined {
  const plain = table.toLowerCase().replaceAll('_', '');
  if (['open', 'openvswitch', 'nbglobal', 'sbglobal'].includes(plain) && id === '.') return rootRow(database);
  const known = [...database.tables.keys(), 'Bridge', 'Port', 'Interface', 'Chassis', 'Connection'].find(
    (one) => one.toLowerCase() === plain,
  );
  const rows = ovsTable(database, known ?? table);
  const row = rows.get(id);
  if (row === undefined && !tolerant)
    throw new CommandError(`${nameOf(process)}: no row "${id}" in table ${known ?? table}`);
  return row;
}

function record(
  process: Process,
  database: OvsDatabase,
  verb: string,
  operands: readonly string[],
  options: ReadonlySet<string>,
): Said {
  const [table = '', id = '', ...columns] = operands;
  if (verb === 'list') {
    const rows = id === '' ? [...ovsTable(database, table).values()] : [rowOf(process, database, table, id, false)];
    const shown = ([name, value]: [string, unknown]) => `${name} : ${JSON.stringify(value)}`;
    return said(rows.map((row) => linesOf(Object.entries(row ?? {}).map(shown))).join('\n'));
  }
  const row = rowOf(process, database, table, id, options.has('--if-exists'));
  if (row === undefined) return said('');
  let output = '';
  for (const column of columns) {
    const [, name = '', key, value] = /^([\w-]+)(?::([^=]+))?(?:=([\s\S]*))?$/.exec(column) ?? [];
    if (verb === 'get') {
      const text =
        key === undefined ? (row[name] ?? (optional.has(name) ? [] : undefined)) : mapOf(row, name)[unquoted(key)];
      if (text === undefined && !options.has('--if-exists')) {
        throw new CommandError(`${nameOf(process)}: no key "${key}" in Open_vSwitch record "${id}" column ${name}`);
      }
      output += `${text === undefined ? '' : typeof text === 'string' ? `"${text}"` : JSON.stringify(text)}\n`;
    } else if (verb === 'clear') row[name] = {};
    else if (verb === 'remove') {
      const { [columns[1] ?? '']: _gone, ...rest } = mapOf(row, name);
      row[name] = rest;
      break;
    } else if (key === undefined) row[name] = unquoted(value ?? '');
    else {
      if (value === undefined)
        throw new CommandError(`${nameOf(process)}: ${column}: argument does not end in "=" followed by a value.`);
      row[name] = { ...mapOf(row, name), [unquoted(key)]: unquoted(value) };
    }
  }
  return verb === 'get' ? said(output) : done;
}

/** Columns of Interface that may have no value (ovs-vswitchd.conf.db(5)), which is shown as `[]`. */
const optional: ReadonlySet<string> = new Set(['error', 'ofport']);

const unquoted = (text: string): string => text.replace(/^"(.*)"$/s, '$1');

function show(database: OvsDatabase): string {
  const bridges = [...ovsTable(database, 'Bridge').keys()].map((bridge) => `    Bridge ${bridge}\n`).join('');
  const chassis = [...ovsTable(database, 'Chassis').values()]
    .map((row) => `Chassis ${String(row['name'])}\n    hostname: ${String(row['hostname'])}\n`)
    .join('');
  return `00000000-0000-0000-0000-000000000000\n${bridges}${chassis}`;
}

/** `ovs-vsctl`, `ovn-nbctl`, `ovn-sbctl`, and what comes with them. */
export const ovsControlCommands: Readonly<Record<string, Program>> = {
  ip,
  'ovs-vsctl': control('Open_vSwitch'),
  'ovn-nbctl': control('OVN_Northbound'),
  'ovn-sbctl': control('OVN_Southbound'),
};
