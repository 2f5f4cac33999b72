import { uuid } from '@openstack-operator/kube';
import type { ServiceProgram } from '../../model/program.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { type Notification, notificationTransport } from '../../oslo/notifier.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { ask, definitions, metricEndpoint, publishSamples, type Sample } from './publishing.ts';

interface Pipeline {
  readonly sinks: readonly { readonly publishers: readonly string[] }[];
}

const logger = 'ceilometer.pipeline.base';

/**
 * `ceilometer-agent-notification`: what agents measured goes to Gnocchi, and of each notification an event is made for
 * whoever reads its topic. A publisher that cannot be loaded at the start is left out, for as long as the agent runs.
 */
export const agentNotification: ServiceProgram = {
  takes: startTimes.ceilometerProgram,
  files: ['ceilometer'],
  run: async (context) => {
    const { process, config, log } = context;
    const transport = notificationTransport(context);
    const session = new KeystoneSession(process, config, 'service_credentials');
    const publishers = (option: string): readonly URL[] =>
      (definitions(context, 'DEFAULT', option) as Pipeline).sinks.flatMap((sink) =>
        sink.publishers.map((publisher) => new URL(publisher)),
      );
    const readers = publishers('event_pipeline_cfg_file').flatMap(({ protocol, searchParams }) =>
      protocol === 'notifier:' ? [searchParams.get('topic') ?? 'event'] : [],
    );
    let metrics: string | undefined;
    if (publishers('pipeline_cfg_file').some(({ protocol }) => protocol === 'gnocchi:'))
      try {
        metrics = await metricEndpoint(session, config);
        await ask(session, process, 'POST', `${metrics}/v1/archive_policy`, { name: 'ceilometer-low' });
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.exception(logger, 'Unable to load publisher gnocchi://', error);
      }
    const tell = (event: string, { payload }: Notification): void => {
      const traits = Object.entries(payload ?? {}).map(([name, value]) => [name, 1, String(value)]);
      const made = { event_type: event, message_id: uuid(process.random), traits };
      for (const topic of readers) transport.cast(`${topic}.sample`, 'event', { payload: [made] });
    };
    const store = async ({ samples }: { readonly samples: readonly Sample[] }): Promise<void> => {
      if (metrics === undefined || samples.length === 0) return;
      await publishSamples(session, context, metrics, samples).catch((error: unknown) => {
        if (!(error instanceof PythonError)) throw error;
        log.error('ceilometer.publisher.gnocchi', `Gnocchi client exception while pushing measures: ${error.message}`);
      });
    };
    for (const topic of config.list('oslo_messaging_notifications', 'topics')) {
      const info = transport.serve(`${topic}.info`, async (event, message) => tell(event, message as Notification));
      const sample = transport.serve(`${topic}.sample`, (_event, message) => store(message as { samples: Sample[] }));
      await Promise.race([Promise.all([info, sample]), terminated(process)]);
    }
    await terminated(process);
    return 0;
  },
};
