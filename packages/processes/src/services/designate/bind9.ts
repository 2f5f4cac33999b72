import { isIP } from 'node:net';
import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { answering, ask } from '../../infrastructure/wire.ts';
import { CommandError, commandWith, notModelled, pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

/** What is asked of a name server. */
export interface DnsQuestion {
  readonly ask: 'query' | 'transfer' | 'notify';
  readonly name: string;
}

/** A zone, as it is transferred: its serial, and records as `name type data`. */
export interface DnsZone {
  readonly serial: number;
  readonly records: readonly string[];
}

/** Asks a name server; undefined: it knows no such zone. @throws SystemError */
export async function askServer(
  { network }: Process,
  { host, port }: Row,
  question: DnsQuestion,
): Promise<DnsZone | undefined> {
  const connection = await network.connect(String(host), Number(port), 'dns');
  try {
    return await ask<DnsZone | undefined>(connection, question);
  } finally {
    connection.close();
  }
}

interface Order {
  readonly secret: string;
  readonly words: readonly string[];
}

const secretIn = (text: string): string => /secret "([^"]+)"/.exec(text)?.[1] ?? '';

/** `rndc -s HOST -p PORT -k FILE COMMAND...` */
export const rndc: Program = commandWith({ values: 's p k c', stopAtOperand: true }, async (process, line) => {
  const file = line.value('k') ?? '/etc/bind/rndc.key';
  if (!process.files.exists(file)) throw new CommandError(`rndc: neither /etc/bind/rndc.conf nor ${file} was found`);
  const [host = '127.0.0.1', port = '953'] = [line.value('s'), line.value('p')];
  try {
    const connection = await process.network.connect(host, Number(port), 'rndc');
    await ask(connection, { secret: secretIn(process.files.read(file)), words: line.operands } satisfies Order);
    connection.close();
    return 0;
  } catch (error) {
    if (error instanceof SystemError) throw new CommandError(`rndc: connect failed: ${host}#${port}: ${error.reason}`);
    throw error;
  }
});

/** `named -g -c FILE`: a secondary of zones that rndc adds, which lie in its directory. */
export const named: Program = commandWith({ flags: 'g f 4 6', values: 'c n u p d' }, async (process, line) => {
  const { files, network } = process;
  const path = line.value('c') ?? '/etc/bind/named.conf';
  const fail = (words: string): never => {
    throw new CommandError(`loading configuration: ${words}\nexiting (due to fatal error)`);
  };
  if (!files.exists(path)) fail('file not found');
  const text = files.read(path).replace(/include "([^"]+)";/g, (_all, file: string) => {
    return files.exists(file) ? files.read(file) : fail(`${path}:1: open: ${file}: file not found`);
  });
  const said = (pattern: RegExp): string | undefined => pattern.exec(text)?.[1];
  const directory = said(/\bdirectory "([^"]+)"/) ?? '/var/cache/bind';
  if (!(await pause(process, startTimes.named))) return 0;
  const zones = new Zones(process, directory, { adds: said(/allow-new-zones (\w+)/) === 'yes' });
  const port = Number(said(/listen-on port (\d+)/) ?? 53);
  const tells = said(/allow-notify \{ ([^;]+)/) === 'any';
  const listeners = [
    network.listen(port, 'dns', () => ({ receive: answering((one: DnsQuestion) => zones.answer(one, tells)) })),
  ];
  const control = said(/controls \{ inet \* port (\d+)/);
  if (control !== undefined) {
    const receive = answering(async ({ secret, words }: Order) => {
      if (secret !== secretIn(text)) throw new CommandError('rndc: connection to remote host closed.');
      await zones.order(words);
    });
    listeners.push(network.listen(Number(control), 'rndc', () => ({ receive })));
  }
  process.stderr('all zones loaded\nrunning\n');
  await terminated(process);
  for (const listener of listeners) listener.close();
  return 0;
});

/** Zones of a server: where each is transferred from, and what it was last. */
class Zones {
  readonly #process: Process;
  readonly #directory: string;
  readonly #adds: boolean;

  constructor(process: Process, directory: string, { adds }: { adds: boolean }) {
    this.#process = process;
    this.#directory = directory;
    this.#adds = adds;
  }

  async answer({ ask, name }: DnsQuestion, tells: boolean): Promise<DnsZone | undefined> {
    if (ask === 'transfer') throw new CommandError('; Transfer failed.');
    const zone = name.replace(/\.$/, '');
    if (ask === 'query') return this.#read(`zone.${zone}`) as DnsZone | undefined;
    if (tells) await this.#transfer(zone);
    return undefined;
  }

  /** `addzone`, `modzone`, `showzone` and `delzone`, with their words. @throws CommandError */
  async order([verb = '', ...rest]: readonly string[]): Promise<void> {
    const [, name = '', statement = ''] =
      /^(\S+)\s*(.*)$/s.exec(rest.filter((word) => word !== '-clean').join(' ')) ?? [];
    const file = `added.${name}`;
    const isKnown = this.#read(file) !== undefined;
    const fail = (words: string): never => {
      throw new CommandError(`rndc: '${verb}' failed: ${words}`);
    };
    if (!this.#adds) fail('permission denied');
    if (verb === 'addzone' && isKnown) fail('already exists');
    if (verb !== 'addzone' && !isKnown) fail('not found');
    if (verb === 'showzone') return;
    if (verb === 'delzone') {
      for (const one of [file, `zone.${name}`])
        if (this.#read(one) !== undefined) this.#process.files.remove(`${this.#directory}/${one}`);
      return;
    }
    if (verb !== 'addzone' && verb !== 'modzone') return notModelled(this.#process, verb);
    const masters = [...statement.matchAll(/(\S+) port (\d+)/g)].map(([, host, port]) => ({ host, port }));
    if (masters.length === 0 || masters.some(({ host = '' }) => isIP(host) === 0)) fail('failure');
    this.#write(file, masters);
    await this.#transfer(name);
  }

  /** From the first that has it; without any it stays as it is. */
  async #transfer(name: string): Promise<void> {
    for (const master of (this.#read(`added.${name}`) ?? []) as Row[]) {
      try {
        const zone = await askServer(this.#process, master, { ask: 'transfer', name: `${name}.` });
        if (zone !== undefined) return this.#write(`zone.${name}`, zone);
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        this.#process.stderr(
          `transfer of '${name}/IN' from ${String(master['host'])}#53: failed to connect: ${error.reason}\n`,
        );
      }
    }
  }

  #read(file: string): unknown {
    const path = `${this.#directory}/${file}`;
    return this.#process.files.exists(path) ? JSON.parse(this.#process.files.read(path)) : undefined;
  }

  #write(file: string, content: unknown): void {
    this.#process.files.write(`${this.#directory}/${file}`, JSON.stringify(content));
  }
}
