import { inputsOf, ownerOf, resolvedSecret } from '../configuration/config.ts';
import type { Runs } from './component.ts';
import type { Keeping, Kept } from './keeping.ts';
import type { Job } from './service.ts';
import type { Desired } from './step.ts';

/** What keeps a list of records: its Secret, and the Job that works it off. */
export interface Records {
  readonly job: Job;
  readonly objects: readonly Desired[];
  /** Name of the Secret with the list. */
  readonly list: string;
  readonly keeping: Keeping;
}

const folder = '/etc/openstack/records';

/** Each of its calls may be cut off, and made again; a server that takes a call and never answers would hold it for ever. */
const deadlineSeconds = 900;

/** The list of what is kept of a service, and its Job, which runs again when what the list is resolved from changes. */
export function recordsOf(keeping: Keeping, kept: Kept): Records {
  const { service, context } = kept;
  const { suffix, step, client } = keeping;
  const name = context.named(suffix);
  const list = resolvedSecret(ownerOf(service, context), name, { ...keeping.list(kept) });
  return {
    objects: [list],
    list: name,
    keeping,
    job: {
      suffix,
      step,
      deadlineSeconds,
      image: client?.image ?? 'operator',
      user: client?.user ?? 'operator',
      config: 'none',
      mounts: [{ path: folder, secret: name, follows: true }],
      inputs: list.verb === 'resolve' ? inputsOf(list.object) : undefined,
      runs: [{ name: suffix, ...(client?.keep(folder) ?? byOperator(keeping.target)) }],
    },
  };
}

function byOperator(target: string): Runs {
  return { command: ['openstack-operator', 'records', target, '--file', `${folder}/records.json`] };
}

/** JSON for people: references inside strings stay as they are and are resolved with the filter `quoted`. */
export function recordsFile(value: unknown): Readonly<Record<string, string>> {
  return { 'records.json': `${JSON.stringify(value, null, 2)}\n` };
}
