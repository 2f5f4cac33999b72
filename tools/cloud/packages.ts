import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Place } from './place.ts';
import { run, StepError, step } from './step.ts';

/** Programs that building images and trying the cloud needs, and the Debian packages that have them; the node installs its own. */
const ofTheCloud: Readonly<Record<string, string>> = {
  mmdebstrap: 'mmdebstrap',
  pip3: 'python3-pip',
  cpio: 'cpio',
  syslinux: 'syslinux',
  mformat: 'mtools',
  sfdisk: 'fdisk',
  ping: 'iputils-ping',
  ip: 'iproute2',
  ethtool: 'ethtool',
};

/**
 * Installs what is missing of the machine's distribution. `wanted`: program -> Debian package that has it.
 * @throws StepError with apt's last words, or the remedy where there is no apt
 */
export async function installPackages({ log }: Pick<Place, 'log'>, wanted = ofTheCloud): Promise<void> {
  const missing = Object.entries(wanted).flatMap(([program, name]) => (isThere(program) ? [] : [name]));
  if (missing.length === 0) return;
  if (!isThere('apt-get')) {
    throw new StepError(
      `Missing: ${missing.join(', ')}; and this machine has no apt-get. Install what these Debian packages hold by hand.`,
    );
  }
  await step(`Debian packages ${missing.join(', ')}`, async () => {
    const options = { log: log('packages'), env: { DEBIAN_FRONTEND: 'noninteractive' } };
    await run('apt-get', ['update', '--quiet'], options);
    await run('apt-get', ['install', '--yes', '--quiet', '--no-install-recommends', ...missing], options);
  });
}

function isThere(program: string): boolean {
  const folders = ['/usr/sbin', '/sbin', ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
