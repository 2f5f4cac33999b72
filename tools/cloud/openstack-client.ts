import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { python, pythonPackages } from '../python-packages.ts';
import type { Place } from './place.ts';

/**
 * The OpenStack SDK and its command line client from PyPI: a directory for PYTHONPATH, installed on first use.
 * @throws Error that says what to install
 */
export function openstackPackages(): string {
  return pythonPackages('openstack-client', join(import.meta.dirname, 'openstack-client/requirements.txt'));
}

/**
 * Writes the program `openstack`, which runs the client with the Python that it was installed for, whichever is first in
 * PATH later.
 * @throws Error that says what to install
 */
export function writeOpenstackProgram({ programs }: Pick<Place, 'programs'>): void {
  const packages = openstackPackages();
  const interpreter = python(['-c', 'import sys; print(sys.executable)']);
  const program = join(programs, 'openstack');
  mkdirSync(programs, { recursive: true });
  writeFileSync(
    program,
    `#!/bin/sh\nPYTHONPATH='${packages}' PYTHONDONTWRITEBYTECODE=1 exec '${interpreter}' -m openstackclient.shell "$@"\n`,
  );
  chmodSync(program, 0o755);
}
