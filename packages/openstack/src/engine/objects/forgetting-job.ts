import { annotations } from '../names/names.ts';
import type { Context } from '../vocabulary/context.ts';
import type { ForgetPlan } from '../vocabulary/forgetting.ts';
import type { Job, Service } from '../vocabulary/service.ts';
import { askingJob } from './count-job.ts';

/** The condition of the step of nodes that are gone for ever. */
export const forgettingStep = 'ForgettingReady';

/** More than a few requests take, and an API that is just starting. */
const deadlineSeconds = 600;

/**
 * The Job `<name>-forget`: deletes what the service has recorded of nodes. It fails as long as the service refuses one.
 * Undefined where the service has no records of nodes by its API.
 */
export function forgettingJob(service: Service, context: Context, hosts: readonly string[]): Job | undefined {
  if (service.forgetting === undefined) return undefined;
  const plan: ForgetPlan = { ...service.forgetting, hosts };
  const job = askingJob(service, context, { suffix: 'forget', step: forgettingStep, command: 'forget', plan });
  return { ...job, aside: true, deadlineSeconds };
}

/** The nodes that the annotation names, each once; and why none of them is forgotten, if that is so. */
export function nodesToForget({ resource, surroundings }: Context) {
  const { forgetNodes } = annotations;
  const words = (resource.metadata.annotations?.[forgetNodes] ?? '').split(',').map((name) => name.trim());
  const hosts = [...new Set(words.filter((name) => name !== ''))];
  const odd = hosts.filter((name) => !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name));
  // It may be of the day before.
  const there = hosts.filter((name) => surroundings.isNode(name));
  const problems = [
    ...(odd.length === 0 ? [] : [`no names of nodes: ${odd.join(', ')}; correct them`]),
    ...(there.length === 0
      ? []
      : [
          `nodes of the cluster: ${there.join(', ')}; take them out of the annotation, or delete the Node if it does not come back`,
        ]),
  ];
  return problems.length === 0
    ? { hosts }
    : {
        hosts,
        problem: `annotation ${forgetNodes}: no node is forgotten while these are ${problems.join('; and these ')}`,
      };
}
