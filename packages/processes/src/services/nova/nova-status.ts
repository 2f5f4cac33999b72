import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type ManageProgram, upgradeCheck } from '../../model/manage.ts';
import { endpointFilter, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { cell0, cellsOf, inApi, inCell } from './nova-cells.ts';

/** `nova-status upgrade check`: 0 well, 2 failures, 255 when a check itself breaks. */
export const novaStatus: ManageProgram = {
  takes: startTimes.novaStatus.start,
  fails: { words: 'Error:', status: 255 },
  commands: {
    'upgrade check': upgradeCheck({
      'Cells v2': cells,
      'Placement API': placement,
      'Service User Token Configuration': ({ config }) =>
        Promise.resolve(
          config.boolean('service_user', 'send_service_user_token')
            ? undefined
            : 'Service user token configuration is required for all Nova services.',
        ),
    }),
  },
};

async function cells(context: ServiceContext): Promise<string | undefined> {
  const setup = "Run command 'nova-manage cell_v2 simple_cell_setup' and then retry.";
  const mappings = await cellsOf(context);
  if (mappings.length < 2)
    return `There needs to be at least two cell mappings, one for cell0 and one for your first cell. ${setup}`;
  if (!mappings.some(({ uuid }) => uuid === cell0)) return `No cell0 mapping found. ${setup}`;
  if ((await inApi(context, 'SELECT', (schema) => tableOf(schema, 'host_mappings').size)) > 0) return undefined;
  const nodes = await inCell(context, undefined, 'SELECT', (schema) => tableOf(schema, 'compute_nodes').size);
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
