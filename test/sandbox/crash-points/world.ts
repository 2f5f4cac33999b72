import { hash } from 'node:crypto';
import type { StoredObject } from '@openstack-operator/kube';
import { digest } from '@openstack-operator/openstack';
import type { Cloud } from '../rollout/cloud.ts';
import { watchRetries } from '../rollout/duplicate-jobs.ts';
import { finalObjects } from '../rollout/normalise.ts';

/** What is seen of a cloud from outside, as it changes. */
export interface World {
  /** Names what all compared objects say at this moment: two moments of two runs with one name are alike. */
  state(): string;
  /** The same of those of this name alone: a Service and its Deployment. */
  stateOf(name: string): string;
  /** How often each object was made, and how many different contents it has had so far. */
  history(): Record<string, number>;
}

/**
 * Follows every compared object. Final objects leave generated values out, as they differ from run to run; that none
 * was generated twice, no Job run twice and no workload changed for nothing, is seen in how they came about.
 */
export function watchWorld({ rehearsal }: Cloud): World {
  const stated = new Map<string, bigint>();
  const history = new Map<string, number>();
  const contents = new Set<string>();
  const isRetry = watchRetries();
  let state = 0n;
  const count = (what: string) => history.set(what, (history.get(what) ?? 0) + 1);

  rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
    const [entry] = Object.entries(finalObjects([object]));
    if (entry === undefined) return;
    const [name, normalised] = entry;
    // A sum without order: an object that changed takes its old part out and puts its new one in.
    state ^= stated.get(name) ?? 0n;
    if (type === 'DELETED') {
      stated.delete(name);
      return;
    }
    const part = hash('sha256', name + digest(normalised), 'buffer').readBigUInt64BE();
    stated.set(name, part);
    state ^= part;
    if (isRetry(object)) return;
    if (type === 'ADDED') count(`${name}: made`);
    const content = `${name} ${contentOf(object)}`;
    if (contents.has(content)) return;
    contents.add(content);
    count(`${name}: contents`);
  });
  const stateOf = (name: string) =>
    [...stated].reduce((sum, [title, part]) => (title.endsWith(` ${name}`) ? sum ^ part : sum), 0n).toString(36);
  return { state: () => state.toString(36), stateOf, history: () => Object.fromEntries(history) };
}

function contentOf(object: StoredObject): string {
  return digest([object['spec'], object['data']]);
}
