import { cache, client, coordination, logging, messaging, sections } from '../../engine/configuration/sections.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Data } from '../../formats/data.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Ceilometer } from './kind.ts';

/** Where other services send what happens, and agents what they have measured. */
export const topic = 'notifications_ceilometer';

/** Where measures go, and whether several agents share the work. */
interface Choices {
  readonly gnocchi: boolean;
  readonly shares: boolean;
}

/** One set for each agent. */
export function configSets(context: Context<Ceilometer>, { gnocchi, shares }: Choices): Record<string, ConfigFiles> {
  const polls = sections(common(context), {
    polling: gnocchi
      ? { cfg_file: '/etc/ceilometer/polling.yaml' }
      : {
          cfg_file: '/etc/ceilometer/polling.yaml',
          enable_notifications: false,
          enable_prometheus_exporter: true,
          prometheus_listen_addresses: '0.0.0.0:9101',
        },
  });
  const polled = { '/etc/ceilometer/polling.yaml': yaml(pollingOf(context)) };
  // A server that was deleted ends its resource there; the service's own project is not measured, Gnocchi is in it.
  const measures = gnocchi ? ['gnocchi://?filter_project=service'] : [];
  const readers = context.topics.map((name) => `notifier://?topic=${name}`);
  return {
    main: {
      '/etc/ceilometer/ceilometer.conf': { oslo: sections(polls, shares ? coordination(context) : {}) },
      ...polled,
    },
    compute: { '/etc/ceilometer/ceilometer.conf': { oslo: polls }, ...polled },
    notification: {
      '/etc/ceilometer/ceilometer.conf': {
        oslo: sections(common(context), {
          DEFAULT: {
            pipeline_cfg_file: '/etc/ceilometer/pipeline.yaml',
            event_pipeline_cfg_file: '/etc/ceilometer/event_pipeline.yaml',
          },
        }),
      },
      '/etc/ceilometer/pipeline.yaml': yaml(pipelineOf('meters', measures)),
      '/etc/ceilometer/event_pipeline.yaml': yaml(pipelineOf('events', [...measures, ...readers])),
    },
  };
}

function common(context: Context<Ceilometer>): Layer {
  const { accounts, named, transportUrl } = context;
  const vhost = accounts.broker.notifications;
  return sections(logging, cache(context), messaging(context, { vhost }), {
    // It reads this topic itself, and sends nothing to those of others but events.
    oslo_messaging_notifications: { driver: 'messagingv2', topics: topic, transport_url: transportUrl(vhost) },
    service_credentials: { ...client(context), interface: 'internal' },
    publisher: { telemetry_secret: secretReference(named('telemetry-secret'), 'password', 'oslo') },
  });
}

const yaml = (data: Data): DataSource => ({ format: 'yaml', data });

function pollingOf({ spec }: Context<Ceilometer>): Data {
  return { sources: [{ name: 'all', interval: spec.pollingIntervalSeconds ?? 300, meters: ['*'] }] };
}

/** All of a kind to these publishers; without any, nothing. */
function pipelineOf(kind: 'meters' | 'events', publishers: readonly string[]): Data {
  if (publishers.length === 0) return { sources: [], sinks: [] };
  return {
    sources: [{ name: 'all', [kind]: ['*'], sinks: ['all'] }],
    sinks: [{ name: 'all', publishers: [...publishers] }],
  };
}
