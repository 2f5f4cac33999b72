import { virtualClock } from '../base/virtual-clock.ts';
import { createClient } from '../client/client.ts';
import type { Authenticator } from '../client/exchange.ts';
import { defineKind, type KubeObject } from '../objects/objects.ts';
import type { HttpRequest, HttpResponse, Transport } from '../transport/transport.ts';

/** Kinds of all sorts: namespaced, not namespaced, of a group. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
export const ConfigMap = defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const Node = defineKind('v1', 'Node', 'nodes', { namespaced: false });
export const Lease = defineKind('coordination.k8s.io/v1', 'Lease', 'leases');

/** What a server answers, or how it fails. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** JSON, or the chunks of a stream. */
  readonly body?: unknown;
  readonly chunks?: readonly (string | Uint8Array)[];
  readonly error?: Error;
  readonly hang?: boolean;
}

/** A transport that gives the answers one after the other (the last one for ever), and what it was asked. */
function scripted(...answers: Answer[]) {
  const requests: HttpRequest[] = [];
  let closedBodies = 0;
  const transport: Transport = {
    async request(request, signal): Promise<HttpResponse> {
      requests.push(request);
      const answer = answers[Math.min(requests.length, answers.length) - 1] as Answer;
      if (answer.error) throw answer.error;
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      aborted.catch(() => {});
      if (answer.hang) await aborted;
      async function* body() {
        try {
          for (const chunk of answer.chunks ?? [JSON.stringify(answer.body)]) {
            yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
          }
          if (answer.chunks?.at(-1) === '') await aborted;
        } finally {
          closedBodies += 1;
        }
      }
      return { status: answer.status ?? 200, headers: answer.headers ?? {}, body: body() };
    },
    close: async () => {},
  };
  return {
    transport,
    requests,
    get closedBodies() {
      return closedBodies;
    },
  };
}

/** A client of a server that gives these answers, the last one for ever. */
export function clientOf(...answers: Answer[]) {
  const server = scripted(...answers);
  const clock = virtualClock();
  const warnings: string[] = [];
  const make = (authenticate?: Authenticator) =>
    createClient({
      transport: server.transport,
      clock,
      onWarning: (text) => warnings.push(text),
      ...(authenticate ? { authenticate } : {}),
    });
  return { client: make(), make, server, clock, warnings };
}

/** A ConfigMap. */
export const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'a' } };

/** The Status of a refused request. */
export function refusal(code: number, reason: string, message: string) {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
}
