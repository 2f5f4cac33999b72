import { createHash } from 'node:crypto';
import { type KubeObject, parseTimestamp } from '@openstack-operator/kube';
import { type Cluster, refusedWith } from './cluster.ts';
import { Event, type Stored } from './kinds.ts';

/** Kubernetes keeps events for an hour (kube-apiserver --event-ttl). */
const TTL_MS = 3_600_000;
const SWEEP_MS = 600_000;
const LONGEST_MESSAGE = 1024;

/** Where in its object an event happened. */
export interface EventOptions {
  readonly type?: 'Normal' | 'Warning';
  /** Such as `spec.containers{nova-api}`. */
  readonly fieldPath?: string;
  readonly host?: string;
}

/** Writes events of one component: what happens again to the same object raises a count. */
export class EventRecorder {
  readonly #cluster: Cluster;
  readonly #component: string;

  constructor(cluster: Cluster, component: string) {
    this.#cluster = cluster;
    this.#component = component;
  }

  /** Records that something happened to `object`. */
  record(object: Stored, reason: string, message: string, options: EventOptions = {}): void {
    const { type = 'Normal', fieldPath, host } = options;
    const { metadata } = object;
    const namespace = metadata.namespace ?? 'default';
    const text = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 3)}...` : message;
    const name = `${metadata.name}.${digest([metadata.uid, this.#component, type, reason, text, fieldPath ?? ''])}`;
    const now = this.#cluster.now();
    const again = this.#cluster.update(Event, `${namespace}/${name}`, (draft) => {
      draft.count = (draft.count ?? 1) + 1;
      draft.lastTimestamp = now;
    });
    if (again) return;
    try {
      this.#cluster.create(Event, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace },
        involvedObject: {
          apiVersion: object.apiVersion,
          kind: object.kind,
          name: metadata.name,
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          ...(metadata.namespace && { namespace: metadata.namespace }),
          ...(fieldPath && { fieldPath }),
        },
        reason,
        message: text,
        type,
        count: 1,
        firstTimestamp: now,
        lastTimestamp: now,
        source: { component: this.#component, ...(host && { host }) },
        reportingComponent: this.#component,
        reportingInstance: host ?? '',
      });
    } catch (error) {
      // Nothing is written into a namespace that is being deleted, or that has gone.
      if (!refusedWith(error, 403) && !refusedWith(error, 404)) throw error;
    }
  }
}

/** Removes events that are older than an hour, for as long as the signal is not aborted. */
export function expireEvents(cluster: Cluster, signal: AbortSignal): void {
  const sweep = () => {
    const oldest = cluster.clock.now() - TTL_MS;
    for (const event of cluster.list(Event)) {
      if (parseTimestamp(lastSeen(event)) < oldest) cluster.delete(Event, event);
    }
    timer = cluster.clock.after(SWEEP_MS, sweep, { ref: false });
  };
  let timer = cluster.clock.after(SWEEP_MS, sweep, { ref: false });
  signal.addEventListener('abort', () => timer.cancel(), { once: true });
}

function lastSeen(event: KubeObject & { lastTimestamp?: string; eventTime?: string | null }): string {
  return event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);
}
