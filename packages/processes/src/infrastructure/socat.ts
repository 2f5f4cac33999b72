import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { CommandError, command, notModelled, terminated } from '../program-support.ts';
import { answering, ask } from './wire.ts';

/** `socat`: listens and answers with what a command prints, prints what a listener sends, or only connects. */
export const socat: Program = command((process) => {
  const [first = '', second = '', third = ''] = process.argv.slice(1);
  const [, port, program] = /^TCP-LISTEN:(\d+),reuseaddr,fork SYSTEM:(.+)$/.exec(`${first} ${second}`) ?? [];
  if (port !== undefined && program !== undefined) return serve(process, Number(port), program);
  if (first === '-u' && second === 'OPEN:/dev/null') return connect(process, third, false);
  if (first === '-u' && third === '-') return connect(process, second, true);
  return notModelled(process, process.argv.slice(1).join(' '));
});

async function serve(process: Process, port: number, program: string): Promise<number> {
  const answer = async (): Promise<string> => {
    let text = '';
    await process.run(['sh', '-c', program], { stdout: (more) => void (text += more) });
    return text;
  };
  const listener = process.network.listen(port, 'socat', () => ({ receive: answering(answer) }));
  await terminated(process);
  listener.close();
  return 143;
}

async function connect(process: Process, address: string, prints: boolean): Promise<number> {
  const [, host = '', port = ''] =
    /^TCP:([^:]+):(\d+),connect-timeout=\d+$/.exec(address) ?? notModelled(process, address);
  try {
    const connection = await process.network.connect(host, Number(port), 'socat');
    if (prints) process.stdout(await ask<string>(connection, ''));
    connection.close();
    return 0;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    // Somebody listens, and speaks something else: who sends nothing does not learn of it.
    if (error.code === 'EPROTO' && !prints) return 0;
    throw new CommandError(`socat[${process.pid}] E connect(5, AF=2 ${host}:${port}, 16): ${error.reason}`);
  }
}
