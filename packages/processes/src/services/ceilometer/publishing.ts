import { uuid } from '@openstack-operator/kube';
import type { HttpReply, Process } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import type { Config } from '../../oslo/config.ts';
import { httpError, type KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** What was measured of a resource. */
export interface Sample {
  readonly name: string;
  readonly type: string;
  readonly resource: string;
  readonly project: string | undefined;
  readonly timestamp: string;
  readonly volume: number;
}

/** Where Gnocchi is, as `[service_credentials]` finds it. @throws PythonError */
export function metricEndpoint(session: KeystoneSession, config: Config): Promise<string> {
  const interfaces = [config.text('service_credentials', 'interface')];
  const region = config.optional('service_credentials', 'region_name');
  return session.endpoint({ type: 'metric', interfaces, region });
}

/** A request that has to succeed. @throws PythonError */
export async function ask(
  session: KeystoneSession,
  process: Process,
  method: string,
  url: string,
  body?: unknown,
): Promise<HttpReply> {
  const reply = await session.request(method, url, body);
  if (reply.status >= 300 && reply.status !== 409) throw httpError(reply, uuid(process.random));
  return reply;
}

/** A file of YAML that an option names. @throws PythonError where there is none: that of the package no model has */
export function definitions({ process, config }: ServiceContext, group: string, option: string): unknown {
  const path = config.text(group, option);
  const file = path.startsWith('/') ? path : `/etc/ceilometer/${path}`;
  if (!process.files.exists(file)) throw new PythonError('FileNotFoundError', `[Errno 2] No such file: '${file}'`);
  return parse(process.files.read(file));
}

/** Sends samples to Gnocchi: resources that it does not know are made, and then once more. @throws PythonError */
export async function publishSamples(
  session: KeystoneSession,
  { process }: ServiceContext,
  url: string,
  samples: readonly Sample[],
): Promise<void> {
  const batch = `${url}/v1/batch/resources/metrics/measures?create_metrics=true`;
  const measures = Object.fromEntries(
    samples.map(({ resource, name, timestamp, volume }) => [
      resource,
      { [name]: { measures: [{ timestamp, value: volume }], archive_policy_name: 'ceilometer-low' } },
    ]),
  );
  const reply = await session.request('POST', batch, measures);
  if (reply.status !== 400) return;
  for (const { resource: id, type, project } of samples)
    await ask(session, process, 'POST', `${url}/v1/resource/${type}`, { id, project_id: project });
  await ask(session, process, 'POST', batch, measures);
}
