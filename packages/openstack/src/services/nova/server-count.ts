import type { KubeObject } from '@openstack-operator/kube';
import { serverCount } from '../../engine/names/names.ts';
import { endpointsOf } from '../../engine/objects/endpoint.ts';
import { jobObject } from '../../engine/objects/job.ts';
import { contextOf } from '../../engine/vocabulary/context.ts';
import type { Job, Service } from '../../engine/vocabulary/service.ts';
import type { ServiceResource, Surroundings } from '../../engine/vocabulary/surroundings.ts';

/** Seconds for which the Job's answer is valid; then the Job is gone, and is run again where the answer still matters. */
const validSeconds = 60;

/** Seconds that the Job may take: an image that cannot be pulled, or a pod that fits nowhere, is an answer as well. */
const deadlineSeconds = 180;

/**
 * The Job that asks a Nova how many servers it has, as Nova's own user: it completes when there is none, and fails with
 * their number, or with what kept Nova from answering, as its last words. Run only when something is to be deleted.
 * @throws Error when what the Nova refers to is not there
 */
export function serverCountJob(service: Service, resource: ServiceResource, surroundings: Surroundings): KubeObject {
  const keystone = surroundings.reference('keystoneRef');
  if (keystone !== undefined && 'missing' in keystone) throw new Error(keystone.missing);
  const context = contextOf(service, resource, surroundings);
  const { name: username, secret } = context.user();
  const api = service.identity?.catalogue[0];
  if (api === undefined) throw new Error(`${service.name} is not in the catalogue`);
  const job: Job = {
    suffix: serverCount,
    step: serverCount,
    image: 'operator',
    user: 'operator',
    config: 'none',
    env: {
      OS_AUTH_URL: context.identity.internalUrl,
      OS_USERNAME: username,
      OS_PASSWORD: { secret, key: 'password' },
      COMPUTE_URL: endpointsOf(service, context, service.components(context), api).internal,
    },
    runs: [{ name: serverCount, command: ['openstack-operator', 'count-servers'] }],
  };
  const object = jobObject({ service, context, job, image: surroundings.operatorImage, configs: [] });
  return {
    ...object,
    spec: {
      ...(object['spec'] as object),
      // The answer is asked for anew by whoever still waits for it.
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineSeconds,
      ttlSecondsAfterFinished: validSeconds,
    },
  };
}
