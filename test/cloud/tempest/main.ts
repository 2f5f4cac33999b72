import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realClock } from '@openstack-operator/kube';
import { clean } from '../clean.ts';
import { connectProviderNetwork, disconnectProviderNetwork } from '../provider-network.ts';
import { tempestConfiguration, testsOf } from './configuration.ts';
import { ofGateway, readExclusions, withoutTest } from './exclusions.ts';
import { facts } from './facts.ts';
import { type Result, resultOf, summary } from './results.ts';
import { prepareTempest } from './tempest.ts';

const { values, positionals } = parseArgs({
  options: { concurrency: { type: 'string', default: '2' } },
  allowPositionals: true,
});
const [first = ''] = positionals;
const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const directory = join(cache, 'openstack-operator/tempest-run');

const begun = realClock.monotonic();
await clean();
await connectProviderNetwork();
const results: Result[] = [];
let exit: number;
let rotten: string[];
try {
  const cloud = await facts();
  const tempest = await prepareTempest(directory, tempestConfiguration(cloud, directory));
  const [always, gateway] = [readExclusions(), readExclusions(ofGateway)];
  const exclusions = cloud.hasGateway === true ? { ...always, ...gateway } : always;
  // Tempest lists the tests of services that the cloud does not have as well.
  rotten = withoutTest({ ...always, ...gateway }, await tempest.idsOf(testsOf()));
  const pattern = first === '' ? testsOf(cloud.services) : first;
  exit = await tempest.run({ pattern, exclusions, concurrency: Number(values.concurrency) }, (line) => {
    process.stdout.write(`${line}\n`);
    const result = resultOf(line);
    if (result !== undefined) results.push(result);
  });
} finally {
  await clean();
  await disconnectProviderNetwork();
}
for (const one of rotten) process.stdout.write(`FAIL  exclusions: ${one} matches no test of tempest: remove it\n`);
// A worker that died has tests without a result.
const untold = exit !== 0 && !results.some(({ outcome }) => outcome === 'failed');
if (untold) process.stdout.write(`FAIL  tempest ended with ${exit}, and no test had failed\n`);
const failed = rotten.length + (untold ? 1 : 0);
process.stdout.write(`${summary(results, { failed, passed: rotten.length === 0 ? 1 : 0 })}\n`);
process.stdout.write(`\ntest-tempest: ${Math.round((realClock.monotonic() - begun) / 1000)} s\n`);
process.exitCode = exit === 0 && failed === 0 ? 0 : 1;
