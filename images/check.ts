import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readAccounts, readContract } from './contract.ts';
import { type Image, readImages } from './image-set.ts';
import { runInImage, unpack } from './root-file-system.ts';
import { violationsOf } from './violations.ts';

const usage = `Usage: images/check [SOURCE...]

Holds images against the contract that the operator relies on (images/contract.yaml, images/README.md). Prints one line
for each point that an image does not meet, and exits 1 then. Needs root, and memory or disk for the unpacked images.

SOURCE is an OCI layout: a directory, or a tar of one. NAME=SOURCE says which image it is (Kolla's name) where the
layout does not. Published images, for example:

  skopeo copy docker://quay.io/openstack.kolla/keystone:2025.1-debian-bookworm oci:/tmp/keystone
  images/check keystone=/tmp/keystone

Without a SOURCE: the images that images/build made, all of which must be there.
`;

function main(sources: readonly string[], directory: string): number {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'openstack-operator/images');
  const own = sources.length === 0;
  if (own) {
    const current = join(cache, 'current.json');
    if (!existsSync(current))
      return fail(`no images have been built: ${current} is missing`, 'Run make images, or name a SOURCE.');
    const built = JSON.parse(readFileSync(current, 'utf8'));
    sources = [built.archive, built.operator.archive];
  }
  const contract = readContract();
  const accounts = readAccounts();
  let images: Map<string, Image>;
  try {
    images = new Map(sources.flatMap(readImages).map((image) => [image.name, image]));
  } catch (error) {
    return fail((error as Error).message, 'See images/check --help for what a SOURCE is.');
  }
  const known = contract.images.flatMap((image) => image.names.map((name) => ({ name, image })));
  const present = known.flatMap(({ name, image }) => {
    const found = images.get(name);
    return found === undefined ? [] : [{ name, contract: image, image: found }];
  });
  const missing = known.filter(({ name }) => !images.has(name)).map(({ name }) => name);
  const strangers = [...images.keys()].filter((name) => !known.some((entry) => entry.name === name));
  if (strangers.length > 0) say(`not in the contract, so not checked: ${strangers.join(', ')}`);

  let violations = 0;
  const violation = (line: string) => {
    violations += 1;
    process.stdout.write(`${line}\n`);
  };
  if (own) for (const name of missing) violation(`${name}: no image of this name`);
  else if (missing.length > 0) say(`not given, so not checked: ${missing.join(', ')}`);

  const begun = performance.now();
  const seconds = () => Math.round((performance.now() - begun) / 1000);
  say(`unpacking ${present.length} images`);
  unpack(
    present.map(({ image }) => image),
    directory,
  );
  for (const { name, image, contract: wanted } of present) {
    say(`[${seconds()} s] ${image.reference}`);
    const lines = violationsOf(wanted, contract, accounts, (options) => runInImage(image, { directory, ...options }));
    for (const line of lines) violation(`${name}: ${line}`);
  }
  say(`${present.length} images, ${violations} violations, ${seconds()} s`);
  return violations === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function fail(problem: string, remedy: string): number {
  say(`images/check: ${problem}\n  ${remedy}`);
  return 2;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h' }, directory: { type: 'string' } },
});
if (values.help === true || values.directory === undefined) process.stdout.write(usage);
else process.exitCode = main(positionals, values.directory);
