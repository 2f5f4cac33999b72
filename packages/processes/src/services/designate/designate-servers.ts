import { SystemError } from '@openstack-operator/sandbox';
import { type Row, rowsOf } from '../../infrastructure/mysql-protocol.ts';
import { answering } from '../../infrastructure/wire.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { askServer, type DnsQuestion, type DnsZone } from './bind9.ts';
import { type CentralCall, designateDatabase, type Pool, rpcProgram, type Target } from './designate-central.ts';

/** `designate-mdns`: a name server that zones are transferred from. It reads the database for each question. */
export const mdns = rpcProgram('mdns', async (context) => {
  const database = new Database(context, designateDatabase);
  const [, port = ''] = context.config.text('service:mdns', 'listen').split(':');
  const answer = ({ name }: DnsQuestion): Promise<DnsZone | undefined> =>
    database.transaction('SELECT', (schema) => {
      const [zone] = rowsOf(schema, 'zones', { name });
      if (zone === undefined) return undefined;
      const records = rowsOf(schema, 'recordsets', { zone_id: zone['id'] }).flatMap(({ name, type, records }) =>
        (records as string[]).map((data) => `${String(name)} ${String(type)} ${data}`),
      );
      return { serial: Number(zone['serial']), records };
    });
  context.process.network.listen(Number(port), 'dns', () => ({ receive: answering(answer) }));
  await Promise.resolve();
});

/** `designate-producer`: one of several does each periodic task; here alone that of zones that went wrong. */
export const producer = rpcProgram('producer', async (context, messaging) => {
  await joinCoordination(context);
  await messaging.serve('producer', () => Promise.resolve(undefined));
  const interval = context.config.integer('producer_task:worker_periodic_recovery', 'interval') * 1000;
  while (await pause(context.process, interval)) messaging.cast('worker', 'recover_shard', {});
});

/** `designate-worker`: tells the servers of a zone's pool, and looks whether all have it. It learns of a pool once. */
export const worker = rpcProgram('worker', async (context, messaging) => {
  const pools = new Map<string, Pool>();
  const perform = async (zone: Row): Promise<void> => {
    const id = String(zone['pool_id']);
    const pool = pools.get(id) ?? (await load(context, messaging, id));
    pools.set(id, pool);
    const found = await act(context, pool, zone);
    await messaging.call('central', 'update_status', { id: zone['id'], ...found });
  };
  await messaging.serve('worker', async (method, parameters) => {
    const zones = (await messaging.call('central', 'find_zones', {})) as Row[];
    const { id } = parameters as CentralCall;
    const meant =
      method === 'recover_shard'
        ? zones.filter(({ status }) => status === 'ERROR')
        : zones.filter((zone) => zone['id'] === id);
    for (const zone of meant) await perform(zone);
  });
});

/** A pool without targets is waited for (designate.worker.service.load_pool). */
async function load({ process, log }: ServiceContext, messaging: Messaging, id: string): Promise<Pool> {
  for (;;) {
    const pool = (await messaging.call('central', 'get_pool', { id })) as Pool;
    if (pool.targets.length > 0) return pool;
    log.error('designate.worker.service', `No targets for <Pool id:'${id}' name:'${pool.name}'> found.`);
    if (!(await pause(process, 5000))) return pool;
  }
}

async function act(context: ServiceContext, pool: Pool, zone: Row): Promise<{ status: string; serial: unknown }> {
  const { process, config, log } = context;
  const seconds = (name: string) => config.integer('service:worker', name) * 1000;
  const retries = config.integer('service:worker', 'poll_max_retries');
  const { name, serial } = zone;
  const attempt = async (what: string, run: () => Promise<boolean>): Promise<boolean> => {
    for (let tries = 0; tries < retries; tries += 1) {
      try {
        if (await run()) return true;
      } catch (error) {
        if (!(error instanceof PythonError || error instanceof SystemError)) throw error;
        log.info('designate.worker.tasks.zone', `Failed to ${what} zone_name=${String(name)} Error=${error.message}`);
      }
      if (!(await pause(process, seconds('poll_retry_interval')))) return false;
    }
    return false;
  };
  const action = String(zone['action']);
  const told = await Promise.all(
    pool.targets.map((target) => attempt(action, async () => await tell(context, target, zone, action))),
  );
  if (told.includes(false)) return { status: 'ERROR', serial };
  await pause(process, seconds('poll_delay'));
  const seen = await Promise.all(
    pool.nameservers.map((server) =>
      attempt('poll', async () => {
        const found = await askServer(process, server, { ask: 'query', name: String(name) });
        return action === 'DELETE' ? found === undefined : (found?.serial ?? 0) >= Number(serial);
      }),
    ),
  );
  return { status: seen.includes(false) ? 'ERROR' : 'SUCCESS', serial };
}

/** A target of BIND by rndc, and a NOTIFY (designate.backend.impl_bind9). @throws PythonError, SystemError */
async function tell(
  { process, config }: ServiceContext,
  { type, options, masters }: Target,
  zone: Row,
  action: string,
): Promise<boolean> {
  if (type !== 'bind9') throw new PythonError('NotImplementedError', `no model knows targets of type ${type}`);
  const name = String(zone['name']).replace(/\.$/, '');
  const { rndc_host: host, rndc_port: port, rndc_key_file: key } = options;
  const rndc = async (...words: string[]): Promise<string | undefined> => {
    // oslo_concurrency.processutils asks the helper unless it is root; sudo is refused in restricted containers.
    const helper = process.uid === 0 ? [] : config.text('DEFAULT', 'root_helper').split(' ');
    if (helper[0] === 'sudo')
      return 'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.';
    let said = '';
    const argv = [...helper, 'rndc', '-s', String(host), '-p', String(port), '-k', String(key), ...words];
    const status = await process.run(argv, { stderr: (text) => (said += text) });
    return status === 0 ? undefined : said.trim();
  };
  const from = masters.map(({ host, port }) => `${host} port ${port}`).join('; ');
  const statement = `${name}  { type slave; masters { ${from};}; file "slave.${name}.${String(zone['id'])}"; };`;
  const add = async () => unless(await rndc('addzone', statement), 'already exists');
  const orders: Readonly<Record<string, () => Promise<string | undefined>>> = {
    CREATE: add,
    DELETE: async () => unless(await rndc('delzone', '-clean', name), 'not found'),
    UPDATE: async () => {
      const missing = await rndc('showzone', name);
      if (missing === undefined) return rndc('modzone', statement);
      // So says rndc of a server that it does not find, too.
      return missing.includes('not found') ? add() : missing;
    },
  };
  const problem = await (orders[action] ?? add)();
  if (problem !== undefined)
    throw new PythonError(
      'designate.exceptions.Backend',
      `Unexpected error while running command.\nStderr: '${problem}'`,
    );
  if (action !== 'DELETE') await askServer(process, options, { ask: 'notify', name: `${name}.` });
  return true;
}

/** What rndc says, but for what is no problem. */
const unless = (said: string | undefined, words: string) => (said?.includes(words) === true ? undefined : said);
