import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Completes package-lock.json after `npm install`: npm leaves out optional packages of other platforms that it could not
 * look up, and `npm ci` then refuses the whole file. Each gets an entry with the version that its parent pins, and the
 * platform that its name tells, so that every machine installs its own and no other.
 */
interface Entry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> };

const platform =
  /(android|darwin|freebsd|linux|openharmony|win32|aix|netbsd|openbsd|sunos)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x|loong64|mips64el)(?:-(gnu|musl))?/;

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`;
    if (place in lock.packages || `${path}/${place}` in lock.packages) continue;
    const [, os, cpu, libc] = platform.exec(name) ?? [];
    if (os === undefined || cpu === undefined) {
      console.error(`${name}: its name tells no platform; add its entry to package-lock.json by hand`);
      process.exitCode = 1;
      continue;
    }
    lock.packages[place] = {
      version,
      cpu: [cpu],
      ...(entry.dev === true ? { dev: true } : {}),
      ...(libc === undefined ? {} : { libc: [libc === 'gnu' ? 'glibc' : libc] }),
      optional: true,
      os: [os],
    };
    console.log(`added ${name} ${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
