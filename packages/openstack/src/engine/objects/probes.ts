import { reloadMercySeconds } from '../configuration/start.ts';
import type { Health } from '../vocabulary/component.ts';
import { connectedProbe } from '../vocabulary/connected.ts';
import type { PodInput } from './pod.ts';

/** What decides on probes. */
type Probed = Pick<PodInput, 'startupSeconds' | 'nodeAgent'> & { readonly health: Health | undefined };

/** Seconds in which a Service lets go of a pod. */
const letGoSeconds = 5;

/**
 * Seconds that an API may leave its probe without an answer before its Service lets go of it. Requests that wait for an agent
 * hold its workers for as long as oslo.messaging waits (`rpc_response_timeout`, 60 s by default): it has nobody left who
 * could answer, and is well. One that has ended is seen at once, by its container.
 */
const busySeconds = 75;

/** What an API under uwsgi takes to stop at most: its Service lets go, its requests end, its master ends. */
export const wsgiGraceSeconds = letGoSeconds + reloadMercySeconds + 5;

/** Requests that are still on their way to an API find it: it stops a little after its Service has let go of it. */
export function lifecycle({ health, nodeAgent }: Probed): unknown {
  if (health === undefined || !('get' in health) || nodeAgent !== undefined) return undefined;
  return { preStop: { sleep: { seconds: letGoSeconds } } };
}

/**
 * Node agents are never restarted for being slow: a restart would reach the guests (production rule 3). Neither is
 * anything else soon: on a machine that has too much to do, restarts take the processor from those that still answer.
 */
export function probes({ health, startupSeconds = 600, nodeAgent }: Probed): Record<string, unknown> {
  if (health === undefined) return {};
  const { periodSeconds = 'connected' in health ? 10 : 5 } = health;
  const timeoutSeconds = Math.max(5, Math.ceil(periodSeconds / 2));
  const readinessProbe = {
    ...handlerOf(health, 'ready'),
    periodSeconds,
    timeoutSeconds,
    failureThreshold: 'get' in health ? Math.ceil(busySeconds / periodSeconds) : 3,
  };
  if (nodeAgent !== undefined) return { readinessProbe };
  const handler = handlerOf(health, 'alive');
  const startupPeriod = Math.min(periodSeconds, 'get' in health || 'tcp' in health ? 2 : 5);
  return {
    startupProbe: {
      ...handler,
      periodSeconds: startupPeriod,
      timeoutSeconds,
      failureThreshold: Math.ceil(startupSeconds / startupPeriod),
    },
    readinessProbe,
    livenessProbe: {
      ...handler,
      periodSeconds: Math.max(30, periodSeconds),
      timeoutSeconds: Math.max(10, timeoutSeconds),
      failureThreshold: 10,
    },
  };
}

/** What a probe asks: the same whether it decides on traffic or on a restart, unless it depends on others. */
function handlerOf(health: Health, question: 'ready' | 'alive'): Record<string, unknown> {
  if ('get' in health) return { httpGet: { path: health.get, port: health.port, scheme: health.scheme ?? 'HTTP' } };
  if ('tcp' in health) return { tcpSocket: { port: health.tcp } };
  if ('connected' in health) return { exec: { command: connectedProbe(health, question) } };
  return { exec: { command: (question === 'alive' ? health.alive : undefined) ?? health.exec } };
}
