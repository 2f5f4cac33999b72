import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Image, readImages } from '../../images/image-set.ts';
import { unpack } from '../../images/root-file-system.ts';
import { pythonPackages } from '../python-packages.ts';
import { cached } from './cache.ts';
import type { Recipe } from './recipe.ts';

const suite = 'trixie';
/** What programs in a root are told; the rest of their environment is empty. */
const environment = ['PATH=/usr/bin:/bin', 'HOME=/tmp', 'LANG=C.UTF-8', 'PYTHONHASHSEED=0', 'PYTHONWARNINGS=ignore'];

/** A root file system with OpenStack's Python packages: its layers lie unpacked below `directory`. */
export interface Root {
  readonly image: Image;
  readonly directory: string;
}

/** The image of OpenStack that images/build makes. Progress goes to `say`. */
export function imageRoot(say: (line: string) => void): Root {
  const current = execFileSync(join(import.meta.dirname, '../../images/build'), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { archive } = JSON.parse(readFileSync(current.trim(), 'utf8')) as { archive: string };
  const image = readImages(archive).find(({ name }) => name === 'keystone');
  if (image === undefined) throw new Error(`${archive} has no image keystone: images/layers/openstack/images names it`);
  const directory = cached(`images-${hashOf(...image.layers.map(({ digest }) => digest))}`, (building) => {
    say('unpacking the image of OpenStack');
    unpack([image], building);
  });
  return { image: { ...image, env: environment }, directory };
}

/** The packages of the recipe, unpacked, and those of PyPI above them. No script of a package has run. */
export function packageRoot({ packages, requirements }: Recipe, say: (line: string) => void): Root {
  const [debian, python] = ['debian-facts', 'python-facts']; // twelve characters: names of layers
  const key = hashOf(
    suite,
    packages.join(),
    readFileSync(requirements, 'utf8'),
    readFileSync(import.meta.filename, 'utf8'),
  );
  const directory = cached(`packages-${key}`, (building) => {
    say(`unpacking ${packages.length} Debian packages and what they need (about a minute)`);
    unpackDebian(join(building, debian), packages);
    say('installing the packages of PyPI');
    const installed = pythonPackages('facts-python', requirements);
    cpSync(installed, join(building, python, 'opt/python'), { recursive: true });
  });
  const libraries = globSync('usr/lib/*/{blas,lapack}', { cwd: join(directory, debian) }).map((path) => `/${path}`);
  return {
    image: {
      name: 'packages',
      reference: key,
      env: [...environment, `LD_LIBRARY_PATH=${libraries.sort().join(':')}`, 'PYTHONPATH=/opt/python'],
      layers: [debian, python].map((digest) => ({ digest, compression: undefined, source: directory })),
    },
    directory,
  };
}

/** mmdebstrap only unpacks here; what scripts would have made and Python needs is made by hand. */
function unpackDebian(root: string, packages: readonly string[]): void {
  const apt = execFileSync('apt-config', ['dump'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^Acquire::(?:http|https|ftp|Retries|Check-Valid-Until|Check-Date)\b.* ".+";$/.test(line));
  const settings = ['APT::Install-Recommends "false"', 'Acquire::Languages "none"', ...apt];
  execFileSync(
    'mmdebstrap',
    [
      '--mode=root',
      '--variant=extract',
      '--components=main',
      '--format=directory',
      '--skip=output/dev',
      ...settings.map((line) => `--aptopt=${line}`),
      `--include=${['python3', 'ca-certificates', ...packages].join()}`,
      suite,
      root,
      '-',
    ],
    { input: mirrors().join('\n'), stdio: ['pipe', 'ignore', 'pipe'] },
  );
  for (const name of ['bin', 'lib', 'lib64', 'sbin'])
    if (!existsSync(join(root, name))) execFileSync('ln', ['-s', `usr/${name}`, join(root, name)]);
  rmSync(join(root, 'dev'), { recursive: true, force: true });
  for (const name of ['proc', 'dev', 'tmp', 'etc/ssl/certs']) mkdirSync(join(root, name), { recursive: true });
  const certificates = globSync('usr/share/ca-certificates/**/*.crt', { cwd: root }).sort();
  const bundle = certificates.map((path) => readFileSync(join(root, path), 'utf8')).join('');
  writeFileSync(join(root, 'etc/ssl/certs/ca-certificates.crt'), bundle);
}

/** The mirror is the one of the machine's apt, as in images/build. */
function mirrors(): string[] {
  const codename = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  return ['', '-updates', '-security'].flatMap((suffix) => {
    const fields = ['Created-By: Packages', `Release: ${codename}${suffix}`, 'Component: main'];
    const printed = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...fields], {
      encoding: 'utf8',
    });
    const [uri] = printed.split('\n');
    return uri ? [`deb ${uri} ${suite}${suffix} main`] : [];
  });
}

function hashOf(...words: readonly string[]): string {
  return createHash('sha256').update(words.join('\n')).digest('hex').slice(0, 16);
}
