import { plain } from '../../http.ts';
import { openLibvirt } from '../../infrastructure/libvirt-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { now } from '../../model/service-rows.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { notificationTransport } from '../../oslo/notifier.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { ask, definitions, type Sample } from './publishing.ts';

interface Polling {
  readonly sources: readonly { readonly interval: number }[];
}

const logger = 'ceilometer.polling.manager';

/** `ceilometer-polling`: looks at once, and then every so often; what fails is logged, and tried again the next time. */
export const polling: ServiceProgram = {
  takes: startTimes.ceilometerProgram,
  files: ['ceilometer'],
  values: 'polling-namespaces',
  run: async (context) => {
    const { process, config, log, line } = context;
    const namespace = line.value('polling-namespaces') ?? 'central';
    const sends = config.boolean('polling', 'enable_notifications');
    const transport = sends ? notificationTransport(context) : undefined;
    const last: string[] = [];
    if (config.boolean('polling', 'enable_prometheus_exporter'))
      for (const address of config.list('polling', 'prometheus_listen_addresses'))
        process.network.listen(Number(address.split(':').at(-1)), 'http', () => ({
          receive: () => Promise.resolve(plain(200, last.join(''))),
        }));
    if (config.optional('coordination', 'backend_url') !== undefined) await joinCoordination(context);
    const { sources } = definitions(context, 'polling', 'cfg_file') as Polling;
    do {
      try {
        const samples = namespace === 'compute' ? await servers(context) : await images(context);
        const [topic = 'notifications'] = config.list('oslo_messaging_notifications', 'topics');
        transport?.cast(`${topic}.sample`, 'telemetry.polling', { samples });
        last.splice(0, last.length, ...samples.map(({ name, volume }) => `ceilometer_${name} ${volume}\n`));
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.error(logger, `Skipping ${namespace}, keystone issue: ${error.message}`);
      }
    } while (await pause(process, (sources[0]?.interval ?? 300) * 1000));
    return 0;
  },
};

/** The size of each image, where there are any. */
async function images(context: ServiceContext): Promise<Sample[]> {
  const { process, config, log } = context;
  const session = new KeystoneSession(process, config, 'service_credentials');
  const { catalog } = await session.token();
  const type = config.text('service_types', 'glance');
  if (!catalog.some((service) => service.type === type)) {
    log.warning(logger, `Skipping images, ${type} service is not registered in keystone`);
    return [];
  }
  const interfaces = [config.text('service_credentials', 'interface')];
  const url = await session.endpoint({
    type,
    interfaces,
    region: config.optional('service_credentials', 'region_name'),
  });
  const { body = '{}' } = await ask(session, process, 'GET', `${url}/v2/images`);
  const { images: found = [] } = JSON.parse(body) as { images?: { id: string; owner?: string; size?: number }[] };
  return found.map(({ id, owner, size }) => ({
    name: 'image.size',
    type: 'image',
    resource: id,
    project: owner,
    timestamp: now(context),
    volume: size ?? 0,
  }));
}

/** The time that processors have worked for each server of this node. */
async function servers(context: ServiceContext): Promise<Sample[]> {
  const { process, config, log } = context;
  const uri = config.text('DEFAULT', 'libvirt_uri') || 'qemu+unix:///system?socket=/var/run/libvirt/libvirt-sock-ro';
  try {
    const libvirt = await openLibvirt(process, uri);
    const domains = await libvirt.domains();
    libvirt.close();
    return domains.map(({ uuid }) => ({
      name: 'cpu',
      type: 'instance',
      resource: uuid,
      project: undefined,
      timestamp: now(context),
      volume: process.clock.now(),
    }));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    log.error(logger, `Unable to discover resources: ${error.message}`);
    return [];
  }
}
