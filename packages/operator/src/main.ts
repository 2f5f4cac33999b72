import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import {
  accessCheck,
  ConfigError,
  type ConnectOptions,
  connect,
  createHealth,
  createLog,
  createMetrics,
  meteredTransport,
  type Runtime,
  realClock,
  realRandom,
  serve,
} from '@openstack-operator/kube';
import { kinds } from '@openstack-operator/openstack';
import { Registry } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };
import { clusterDomainOf } from './cluster-domain.ts';
import { parseRun, usage } from './command-line.ts';
import { conditionMetrics } from './condition-metrics.ts';
import { keepHeapSmall } from './heap.ts';
import { ownImage } from './own-image.ts';
import { type ArtifactWorld, runFetch, runPublish } from './publish.ts';
import { runCount } from './records/count.ts';
import { runEmpty } from './records/empty.ts';
import { runForget } from './records/forget.ts';
import { nodeHttp } from './records/node-http.ts';
import { runRecords } from './records/run.ts';
import { runOperator } from './run-operator.ts';

/** Ends the process with what it returns, see `usage`. */
async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)));
  if (rest.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  switch (command) {
    case 'run':
      keepHeapSmall(realClock);
      return await runCommand(rest, stop.signal);
    case 'records':
      return await runRecords(rest, {
        read: (path) => readFileSync(path, 'utf8'),
        http: nodeHttp({ signal: stop.signal }),
        clock: realClock,
        print: (line) => console.log(line),
        writeMessage: (text) => writeFileSync('/dev/termination-log', text),
        signal: stop.signal,
      });
    case 'publish':
      return await runPublish(rest, artifactWorld);
    case 'fetch':
      return await runFetch(rest, artifactWorld);
    case 'count':
      return await runCount(rest, {
        env: process.env,
        http: nodeHttp({ signal: stop.signal }),
        clock: realClock,
        print: (line) => console.log(line),
        signal: stop.signal,
      });
    case 'empty':
    case 'forget':
      return await (command === 'empty' ? runEmpty : runForget)(rest, {
        env: process.env,
        http: nodeHttp({ signal: stop.signal }),
        clock: realClock,
        print: (line) => console.log(line),
        writeMessage: (text) => writeFileSync('/dev/termination-log', text),
        signal: stop.signal,
      });
    case '--help':
    case 'help':
      process.stdout.write(usage);
      return 0;
    case '--version':
      process.stdout.write(`${manifest.version}\n`);
      return 0;
    case undefined:
    default:
      process.stderr.write(
        `${command === undefined ? '' : `openstack-operator: no command ${JSON.stringify(command)}\n\n`}${usage}`,
      );
      return 2;
  }
}

const artifactWorld: ArtifactWorld = {
  connect: () => connect({ clock: realClock, env: process.env, userAgent: 'openstack-operator' }),
  read: (path) => readFileSync(path),
  write(path, content) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  },
  print: (line) => console.log(line),
};

async function runCommand(args: readonly string[], signal: AbortSignal): Promise<number> {
  const { level, port, ...values } = parseRun(args);
  const log = createLog({ clock: realClock, write: (line) => process.stdout.write(`${line}\n`), level });
  const { env } = process;
  const registry = new Registry();
  const metrics = createMetrics(registry);
  let runtime: Runtime | undefined;
  conditionMetrics(registry, () => kinds.flatMap((kind) => runtime?.cache.list(kind) ?? []));
  const health = createHealth();
  const connection: ConnectOptions = {
    clock: realClock,
    env,
    userAgent: 'openstack-operator',
    wrap: (transport, host) => meteredTransport(transport, metrics, host),
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
  };
  const { client, namespace } = await connect(connection);
  // A renewal of the lease waits behind no other request.
  const { client: leaseClient } = await connect(connection);
  const serving = await serve({
    port,
    metrics,
    health,
    log,
    ...(values['metrics-open'] === true ? {} : { access: accessCheck({ client, clock: realClock, log }) }),
  });
  log.info('serves metrics and health', { port: serving.port });
  const watched = values['watch-namespaces'];
  const operatorClass = values['operator-class'];
  const own = env['OPERATOR_NAMESPACE'] ?? namespace;
  const pod = env['POD_NAME'];
  try {
    const operatorImage =
      env['OPERATOR_IMAGE'] ??
      (pod === undefined ? undefined : await ownImage({ client, clock: realClock, log, signal, namespace: own, pod }));
    await runOperator({
      client,
      leaseClient,
      clock: realClock,
      random: realRandom,
      log,
      signal,
      namespace: own,
      ...(values['no-leader-election'] === true
        ? {}
        : { identity: `${env['POD_NAME'] ?? hostname()}_${randomUUID()}` }),
      ...(watched === undefined ? {} : { namespaces: watched.split(',') }),
      ...(operatorClass === undefined ? {} : { operatorClass }),
      ...(operatorImage === undefined ? {} : { operatorImage }),
      ...clusterDomain(),
      metrics,
      health,
      started: (started) => {
        runtime = started;
      },
    });
    return 0;
  } finally {
    await serving.close();
    await client.close();
    await leaseClient.close();
  }
}

/** What the pod's resolver says of the cluster's domain; nothing where there is no such file. */
function clusterDomain(): { clusterDomain?: string } {
  try {
    const domain = clusterDomainOf(readFileSync('/etc/resolv.conf', 'utf8'));
    return domain === undefined ? {} : { clusterDomain: domain };
  } catch {
    return {};
  }
}

process.on('unhandledRejection', (error) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`openstack-operator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}
