import type { Program } from '@openstack-operator/sandbox';
import { tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { endpointFilter, KeystoneSession } from '../oslo/keystone-session.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { apiDatabase, cell0, cellRows } from './nova-cells.ts';

/** What is wrong; undefined when the check passes. */
type Check = (context: ServiceContext) => Promise<string | undefined>;

const checks: Readonly<Record<string, Check>> = {
  'Cells v2': cells,
  'Placement API': placement,
  'Service User Token Configuration': ({ config }) =>
    Promise.resolve(
      config.boolean('service_user', 'send_service_user_token')
        ? undefined
        : 'Service user token configuration is required for all Nova services.',
    ),
};

/** `nova-status upgrade check`: 0 well, 2 failures, 255 when a check itself breaks. */
export const novaStatus: Program = osloProgram({
  project: 'nova',
  subcommands: true,
  run: async (context) => {
    const { process, line } = context;
    if (line.operands.join(' ') !== 'upgrade check')
      throw new SystemExit(2, 'nova-status: error: argument command: invalid choice');
    await pause(process, startTimes.novaStatus.start);
    try {
      const lines: string[] = [];
      let failed = false;
      for (const [name, check] of Object.entries(checks)) {
        const problem = await check(context);
        failed ||= problem !== undefined;
        lines.push(
          `| Check: ${name}`,
          `| Result: ${problem === undefined ? 'Success' : 'Failure'}`,
          `| Details: ${problem ?? 'None'}`,
          rule,
        );
      }
      process.stdout(`${[rule, '| Upgrade Check Results', rule, ...lines].join('\n')}\n`);
      return failed ? 2 : 0;
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stdout(`Error:\nTraceback (most recent call last):\n${error.lastLine}\n\n`);
      return 255;
    }
  },
});

const rule = '+----------------------------------+';

async function cells(context: ServiceContext): Promise<string | undefined> {
  const setup = "Run command 'nova-manage cell_v2 simple_cell_setup' and then retry.";
  const [rows, hosts] = await apiDatabase(context).transaction('SELECT', (schema) => [
    cellRows(schema),
    tableOf(schema, 'host_mappings').size,
  ]);
  if (rows.length < 2)
    return `There needs to be at least two cell mappings, one for cell0 and one for your first cell. ${setup}`;
  if (!rows.some((row) => row['uuid'] === cell0)) return `No cell0 mapping found. ${setup}`;
  if (hosts > 0) return undefined;
  const nodes = await new Database(context).transaction('SELECT', (schema) => tableOf(schema, 'compute_nodes').size);
  return nodes > 0 ? `No host mappings found but there are compute nodes. ${setup}` : undefined;
}

async function placement({ process, config }: ServiceContext): Promise<string | undefined> {
  const complaints = {
    MissingAuthPlugin: 'No credentials specified for placement API in nova.conf.',
    Unauthorized: 'Placement service credentials do not work.',
    EndpointNotFound: 'Placement API endpoint not found.',
    DiscoveryFailure: 'Discovery for placement API URI failed.',
    NotFound: 'Placement API does not seem to be running.',
  };
  try {
    const session = new KeystoneSession(process, config, 'placement');
    const base = await session.endpoint(endpointFilter(config, 'placement', 'placement'));
    const reply = await session.request('GET', `${base}/`);
    return reply.status === 200 ? undefined : complaints.NotFound;
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    const found = Object.entries(complaints).find(([name]) => error.type.endsWith(`.${name}`));
    if (found === undefined) throw error;
    return found[1];
  }
}
