import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import {
  connect,
  createHealth,
  createLog,
  createMetrics,
  meteredTransport,
  realClock,
  realRandom,
  serve,
} from '@openstack-operator/kube';
import { Registry } from 'prom-client';
import { clusterDomainOf } from './cluster-domain.ts';
import { keepHeapSmall } from './heap.ts';
import { nodeHttp } from './records/node-http.ts';
import { runRecords } from './records/run.ts';
import { runOperator } from './run-operator.ts';

const usage = `openstack-operator: turns one custom resource into an OpenStack cloud, and keeps it

Usage:
  openstack-operator run [options]                        the operator itself
  openstack-operator records TARGET --file FILE           keeps users, endpoints, vhosts (its Jobs call this)

Options of run:
  --kubeconfig PATH         which cluster (default: the one that this pod runs in, or $KUBECONFIG)
  --watch-namespaces A,B    only these namespaces: Roles are enough (default: all)
  --no-leader-election      this process is alone
  --port N                  metrics and health (default 8080; 0: any free port)
  --log-level LEVEL         debug, info, warn, error (default info)

Environment: OPERATOR_NAMESPACE (its own namespace), OPERATOR_IMAGE (image of its Jobs), POD_NAME.
`;

/** Ends the process: 0 stopped as asked, 1 failed, 2 wrong arguments. */
async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)));
  switch (command) {
    case 'run':
      keepHeapSmall();
      return await runCommand(rest, stop.signal);
    case 'records':
      return await runRecords(rest, {
        read: (path) => readFileSync(path, 'utf8'),
        http: nodeHttp({ signal: stop.signal }),
        clock: realClock,
        print: (line) => console.log(line),
        signal: stop.signal,
      });
    case '--help':
    case 'help':
      process.stdout.write(usage);
      return 0;
    case undefined:
    default:
      process.stderr.write(
        `${command === undefined ? '' : `openstack-operator: no command ${JSON.stringify(command)}\n\n`}${usage}`,
      );
      return 2;
  }
}

async function runCommand(args: readonly string[], signal: AbortSignal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kubeconfig: { type: 'string' },
      'watch-namespaces': { type: 'string' },
      'no-leader-election': { type: 'boolean' },
      port: { type: 'string', default: '8080' },
      'log-level': { type: 'string', default: 'info' },
    },
  });
  const level = values['log-level'] as 'debug' | 'info' | 'warn' | 'error';
  const log = createLog({ clock: realClock, write: (line) => process.stdout.write(`${line}\n`), level });
  const { env } = process;
  const metrics = createMetrics(new Registry());
  const health = createHealth();
  const { client, namespace } = await connect({
    clock: realClock,
    env,
    wrap: (transport, host) => meteredTransport(transport, metrics, host),
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
  });
  const serving = await serve({ port: Number(values.port), metrics, health });
  log.info('serves metrics and health', { port: serving.port });
  const watched = values['watch-namespaces'];
  try {
    await runOperator({
      client,
      clock: realClock,
      random: realRandom,
      log,
      signal,
      namespace: env['OPERATOR_NAMESPACE'] ?? namespace,
      ...(values['no-leader-election'] === true
        ? {}
        : { identity: `${env['POD_NAME'] ?? hostname()}_${randomUUID()}` }),
      ...(watched === undefined ? {} : { namespaces: watched.split(',') }),
      ...(env['OPERATOR_IMAGE'] === undefined ? {} : { operatorImage: env['OPERATOR_IMAGE'] }),
      ...clusterDomain(),
      metrics,
      health,
    });
    return 0;
  } finally {
    await serving.close();
    await client.close();
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
  process.exitCode = 1;
}
