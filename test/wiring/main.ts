import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { realClock } from '@openstack-operator/kube';
import { explained, reportOf } from './report.ts';
import { plan, type Result, tryAll } from './run.ts';
import { sampleOf } from './sample.ts';
import { readExplanations } from './survivors.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    cloud: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    sample: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    list: { type: 'boolean', default: false },
  },
});

const begun = realClock.now();
const seconds = () => Math.round((realClock.now() - begun) / 1000);
const all = (await plan()).filter(
  ({ id, cloud }) => id.includes(values.only ?? '') && (values.cloud?.includes(cloud) ?? true),
);
const chosen = values.sample === undefined ? all : sampleOf(all, Number(values.sample), Number(values.seed));
if (values.list) {
  for (const { cloud, id } of chosen) console.log(`${cloud}: ${id}`);
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const explanations = readExplanations(new URL('./survivors.yaml', import.meta.url).pathname);
  const results: Result[] = [];
  const onResult = (result: Result) => {
    results.push(result);
    const { verdict, id, words, milliseconds } = result;
    const why = verdict === 'survived' ? (explained(id, explanations) ?? 'UNEXPLAINED') : words;
    console.log(`${results.length}/${chosen.length} ${verdict} ${id} (${milliseconds} ms) => ${why}`);
  };
  const mayLive = (id: string) => explained(id, explanations) !== undefined;
  await tryAll(chosen, { workers: Number(values.workers), mayLive, onResult });
  const whole = values.only === undefined && values.cloud === undefined && values.sample === undefined;
  const report = reportOf(results, explanations, {
    command: commandLine(),
    seed: values.seed,
    seconds: seconds(),
    whole,
  });
  console.log(`\n${report.summary}`);
  if (whole) writeFileSync(new URL('./report.md', import.meta.url), report.text);
  return report.failures.length === 0 ? 0 : 1;
}

function commandLine(): string {
  return ['node test/wiring/main.ts', ...process.argv.slice(2)].join(' ');
}
