import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname } from 'node:path';
import { problemOfDirectory, takeDirectory } from './directory.ts';
import type { Place } from './place.ts';
import { StepError } from './step.ts';

const GiB = 1024 ** 3;

/**
 * What has to be so before anything is changed; then the directory is made.
 * @throws StepError with a line for each mistake and its remedy
 */
export function checkMachine(place: Place): void {
  const problems = [...problemsOf(place)];
  if (problems.length > 0) throw new StepError(problems.join('\n'));
  takeDirectory(place);
}

function* problemsOf(place: Place): Iterable<string> {
  const { directory, openrc } = place;
  if (process.platform !== 'linux') {
    yield `This is ${process.platform}: the whole cloud needs Linux (Debian 12). make demo runs here.`;
    return;
  }
  if (process.getuid?.() !== 0) yield 'Not root: namespaces, cgroups and mounts need it. Run it with sudo.';
  const memory = availableMemory();
  const runs = existsSync(openrc);
  if (memory < 6 * GiB && !runs) {
    yield `${gibibytes(memory)} of memory are available: the cloud uses up to 8 GiB, at least 6 have to be free. End other programs.`;
  }
  const problem = problemOfDirectory(place);
  if (problem !== undefined) yield problem;
  let there = directory;
  while (!existsSync(there)) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  if (bavail * bsize < 15 * GiB && !runs) {
    yield `${gibibytes(bavail * bsize)} of disk are free at ${directory}: programs, images and volumes need 15 GiB. Free some, or set XDG_CACHE_HOME to a larger disk.`;
  }
}

/** Bytes that programs can still have, page cache included. */
export function availableMemory(): number {
  const [, kibibytes] = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024;
}

function gibibytes(bytes: number): string {
  return `${(bytes / GiB).toFixed(1)} GiB`;
}
