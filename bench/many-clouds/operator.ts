import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import {
  connect,
  createMetrics,
  meteredTransport,
  noLog,
  type Runtime,
  realClock,
  realRandom,
  type Transport,
} from '@openstack-operator/kube';
import { keepHeapSmall, runOperator } from '@openstack-operator/operator';
import { Registry } from 'prom-client';

/** What an operator says of itself; counted since the last time it was asked. */
export interface Usage {
  /** Seconds of processor time. */
  readonly cpu: number;
  /** Bytes: of the moment, and the most so far. */
  readonly rss: number;
  readonly peak: number;
  readonly heap: number;
  /** Milliseconds for which nothing else had its turn. */
  readonly longestBlock: number;
  /** Milliseconds of the longest pause for garbage collection: part of a block. */
  readonly longestCollection: number;
  /** Requests that change something; what it asks about its permissions aside: method and path. */
  readonly writes: readonly string[];
  /** All requests, with the same exceptions, and the bytes that were sent with them. */
  readonly requests: number;
  readonly sent: number;
  readonly idle: boolean;
}

keepHeapSmall(realClock);
const operatorNamespace = 'openstack-operator-system';
/** Milliseconds between two looks at the event loop. */
const RESOLUTION = 2;

/**
 * A process of its own: the operator as in a pod, but that it tells what it takes, and that no other operator exists: without
 * leader election, as the embedded Kubernetes is one thread, which answers too late for a lease where hundreds of clouds
 * begin at once. Says how long its start took, in ms.
 */
const [kubeconfig = ''] = process.argv.slice(2);
const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
let longestCollection = 0;
new PerformanceObserver((list) => {
  longestCollection = Math.max(longestCollection, ...list.getEntries().map(({ duration }) => duration));
}).observe({ entryTypes: ['gc'] });
const metrics = createMetrics(new Registry());
let writes: string[] = [];
let requests = 0;
let sent = 0;
let runtime: Runtime | undefined;

const counted = (transport: Transport): Transport => ({
  request(request, signal) {
    if (!/accessreviews/.test(request.path)) {
      requests++;
      sent += Buffer.byteLength(request.body ?? '');
      if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`);
    }
    return transport.request(request, signal);
  },
  close: () => transport.close(),
});
const { client } = await connect({
  kubeconfig,
  env: {},
  clock: realClock,
  wrap: (transport, host) => meteredTransport(counted(transport), metrics, host),
});
const stop = new AbortController();
process.once('disconnect', () => process.exit());

let before = process.cpuUsage();
process.on('message', (asked) => {
  if (asked === 'stop') return stop.abort(new Error('the measurement is over'));
  // To watch the event loop takes two hundredths of a core: too much while nothing happens.
  if (asked === 'look away') return delays.disable();
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  const { rss, heapUsed: heap } = process.memoryUsage();
  const usage: Usage = {
    cpu: (user + system) / 1e6,
    rss,
    peak: process.resourceUsage().maxRSS * 1024,
    heap,
    longestBlock: Math.max(0, delays.max / 1e6 - RESOLUTION),
    longestCollection,
    writes,
    requests,
    sent,
    idle: runtime?.idle ?? false,
  };
  writes = [];
  requests = 0;
  sent = 0;
  longestCollection = 0;
  delays.reset();
  process.send?.(usage);
});
await runOperator({
  client,
  clock: realClock,
  random: realRandom,
  log: noLog,
  signal: stop.signal,
  namespace: operatorNamespace,
  metrics,
  started(started) {
    runtime = started;
    // What loading the program blocks is its start, and counted there.
    delays.enable();
    process.send?.(performance.now());
  },
});
await client.close();
process.disconnect?.();
