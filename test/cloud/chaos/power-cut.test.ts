import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../kubernetes/clients/command.ts';
import { nodeEnter } from '../node.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { answers } from './health.ts';
import { type Chaos, printRecoveries, recovers } from './recovery.ts';

let cloud: Chaos;
beforeAll(async () => {
  cloud = await chaos();
}, 900_000);
afterAll(printRecoveries);

/** A command of tools/kubernetes for the node that the cloud runs on. */
async function kubernetes(name: string, ...argv: readonly string[]): Promise<void> {
  const [enter, ...options] = nodeEnter();
  const environment = process.env as Record<string, string>;
  const ended = await run(join(enter, '../..', name), [...options, ...argv], { environment, limit: 300 });
  if (ended.code !== 0) throw new Error(`tools/kubernetes/${name} ended with ${ended.code}: ${ended.stderr}`);
}

test('a node that lost its power goes on where it was, and so do its servers', async () => {
  const { server, user } = cloud.witness;
  const instance = /^https:\/\/10\.89\.(\d)\./.exec(await apiServer())?.[1] ?? '0';
  await recovers('power cut of the node', {
    ...cloud,
    happen: async () => {
      // PID 1 of the node is killed: nothing in it is asked to end.
      await kubernetes('down', '--keep-volumes');
      await kubernetes('up', '--instance', instance);
      await answers(1200);
      // As after every power cut: nova finds it off, and leaves it so.
      const { status } = await until({
        what: `server ${server.name} to be known as off`,
        seconds: 600,
        probe: async () => {
          const state = await server.state();
          return state.task_state === null && (state.power_state === 4 || state.status === 'SHUTOFF')
            ? state
            : undefined;
        },
        explain: async () => JSON.stringify(await server.state()),
      });
      if (status !== 'SHUTOFF') await server.reaches('SHUTOFF', 600);
      await user.call('compute.start_server', server.id);
      await server.reaches('ACTIVE', 300);
      // Its disk is the one it had.
      await server.says(/^== BOOT 2 of this disk$/m, 300);
    },
    within: 600,
  });
  expect(await server.state()).toMatchObject({ status: 'ACTIVE', power_state: 1 });
});

async function apiServer(): Promise<string> {
  const { stdout } = await run('kubectl', ['config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}'], {
    environment: process.env as Record<string, string>,
  });
  return stdout;
}
