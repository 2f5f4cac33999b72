import {
  alphanumeric,
  ConfigMap,
  connect,
  controller,
  Deployment,
  noLog,
  realClock,
  realRandom,
  run,
  Secret,
  Service,
} from '@openstack-operator/kube';
import { configMapOf, deploymentOf, secretOf, serviceOf, statusOf, Website } from './website.ts';

/** A contestant: the small operator with our runtime. */
const [kubeconfig = '', workers = '', resync = ''] = process.argv.slice(2);

const websites = controller(Website, {
  owns: [ConfigMap, Secret, Service, Deployment],
  concurrency: Number(workers),
  async reconcile({ object, apply, create, status, clock, random }) {
    await apply(configMapOf(object));
    await create(secretOf(object, alphanumeric(random, 26)));
    await apply(serviceOf(object));
    const deployment = await apply(deploymentOf(object));
    await status(statusOf(object, deployment, clock));
  },
});

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new Error('the measurement is over')));
const { client } = await connect({ kubeconfig, env: {}, clock: realClock });
await run({
  name: 'small-operator',
  controllers: [websites],
  client,
  clock: realClock,
  random: realRandom,
  log: noLog,
  signal: stop.signal,
  resyncPeriod: Number(resync) * 1000,
  started: () => process.stdout.write('"ready"\n'),
});
await client.close();
