import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What a work queue says of itself when it is asked; seconds. */
export interface QueueState {
  readonly depth: number;
  readonly unfinished: number;
  readonly longest: number;
}

/** What a work queue reports. */
export interface QueueMetrics {
  /** Tells whom to ask for the state of the moment. */
  observe(state: () => QueueState): void;
  added(): void;
  retried(): void;
  /** A worker took a key that waited so many seconds. */
  taken(waited: number): void;
  /** A worker is done with a key after so many seconds. */
  finished(worked: number): void;
}

/** How a reconcile ended, in controller-runtime's words. */
export type ReconcileOutcome = 'success' | 'error' | 'requeue_after';

/** What a controller reports. */
export interface ControllerMetrics {
  begun(): void;
  ended(result: ReconcileOutcome, seconds: number, error?: 'error' | 'terminal' | 'panic'): void;
}

/** What the runtime reports, under the names that dashboards for controller-runtime know. */
export interface Metrics {
  queue(name: string): QueueMetrics;
  controller(name: string, workers: number): ControllerMetrics;
  /** One request to the API server ended; `code` is the HTTP status, or `<error>` without an answer. */
  request(code: string, method: string, host: string): void;
  /** Whether this process holds the lease of that name. */
  leader(name: string, leading: boolean): void;
  /** All of the registry in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** client-go's: 10 ns to 1000 s by powers of ten. */
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, i) => 10 ** (i - 8));

/** controller-runtime's, `pkg/internal/controller/metrics`. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Makes the runtime's metrics in a registry; each registry takes them once. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, registers, buckets });

  const states = new Map<string, () => QueueState>();
  const queueGauge = (name: string, help: string, value: (state: QueueState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['name', 'controller'],
      registers,
      collect() {
        for (const [queue, state] of states) this.set({ name: queue, controller: queue }, value(state()));
      },
    });
  queueGauge('workqueue_depth', 'Keys that wait for a worker', ({ depth }) => depth);
  queueGauge(
    'workqueue_unfinished_work_seconds',
    'Seconds since the work in progress was begun, summed up',
    ({ unfinished }) => unfinished,
  );
  queueGauge(
    'workqueue_longest_running_processor_seconds',
    'Seconds that the longest work in progress has taken so far',
    ({ longest }) => longest,
  );

  const perQueue = ['name', 'controller'] as const;
  const adds = counter('workqueue_adds_total', 'Keys that were added', [...perQueue]);
  const retries = counter('workqueue_retries_total', 'Keys that were added again after a failure', [...perQueue]);
  const waits = histogram(
    'workqueue_queue_duration_seconds',
    'Seconds that a key waited for a worker',
    [...perQueue],
    QUEUE_BUCKETS,
  );
  const works = histogram(
    'workqueue_work_duration_seconds',
    'Seconds that the work on a key took',
    [...perQueue],
    QUEUE_BUCKETS,
  );

  const reconciles = counter('controller_runtime_reconcile_total', 'Reconciliations, by result', [
    'controller',
    'result',
  ]);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed', ['controller']);
  const terminals = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciliations that failed and are not retried',
    ['controller'],
  );
  const panics = counter(
    'controller_runtime_reconcile_panics_total',
    'Reconciliations that failed because of an error in the program',
    ['controller'],
  );
  const times = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Seconds that a reconciliation took',
    ['controller'],
    RECONCILE_BUCKETS,
  );
  const workers = gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Reconciliations that may run at the same time',
    ['controller'],
  );
  const active = gauge('controller_runtime_active_workers', 'Reconciliations in progress', ['controller']);
  const requests = counter('rest_client_requests_total', 'Requests to the API server', ['code', 'method', 'host']);
  const leader = gauge('leader_election_master_status', '1 while this process holds the lease, otherwise 0', ['name']);

  return {
    queue(name) {
      const labels = { name, controller: name };
      adds.inc(labels, 0);
      retries.inc(labels, 0);
      return {
        observe: (state) => void states.set(name, state),
        added: () => adds.inc(labels),
        retried: () => retries.inc(labels),
        taken: (waited) => waits.observe(labels, waited),
        finished: (worked) => works.observe(labels, worked),
      };
    },
    controller(name, count) {
      const labels = { controller: name };
      for (const result of ['success', 'error', 'requeue_after']) reconciles.inc({ ...labels, result }, 0);
      for (const zero of [errors, terminals, panics]) zero.inc(labels, 0);
      workers.set(labels, count);
      active.set(labels, 0);
      return {
        begun: () => active.inc(labels),
        ended: (result, seconds, error) => {
          active.dec(labels);
          times.observe(labels, seconds);
          reconciles.inc({ ...labels, result });
          if (error) errors.inc(labels);
          if (error === 'terminal') terminals.inc(labels);
          if (error === 'panic') panics.inc(labels);
        },
      };
    },
    request: (code, method, host) => requests.inc({ code, method, host }),
    leader: (name, leading) => leader.set({ name }, leading ? 1 : 0),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
