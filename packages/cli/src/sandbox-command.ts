import { noLog, realClock, realRandom } from '@openstack-operator/kube';
import { openstackImages } from '@openstack-operator/processes';
import { createSandbox } from '@openstack-operator/sandbox';
import { CommandError } from './command-error.ts';
import { createRehearsal } from './rehearsal.ts';
import { interrupted, serveSandbox } from './serve-sandbox.ts';

/** `kubectl openstack sandbox`: runs until interrupted. */
export async function sandboxCommand(options: {
  port?: string;
  kubeconfig: string;
  operator?: boolean;
}): Promise<void> {
  const port = options.port === undefined ? undefined : Number(options.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536)) {
    throw new CommandError(`--port: ${JSON.stringify(options.port)} is not a port number (0 to 65535)`, 2);
  }
  const surroundings = { clock: realClock, random: realRandom };
  const rehearsal = options.operator === true ? await createRehearsal({ ...surroundings, log: noLog }) : undefined;
  const sandbox =
    rehearsal?.sandbox ?? createSandbox({ ...surroundings, images: openstackImages(), nodes: [{ name: 'node-1' }] });
  const operator = await rehearsal?.startOperator();
  // Before it is told how: who reads that may interrupt at once.
  const asked = interrupted();
  const close = await serveSandbox(sandbox, {
    ...(port === undefined ? {} : { port }),
    kubeconfig: options.kubeconfig,
    operator: operator !== undefined,
  });
  await (operator === undefined ? asked : Promise.race([asked, operator.ended]));
  await close();
  await operator?.stop();
  sandbox.stop();
}
