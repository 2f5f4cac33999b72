import { until } from './until.ts';

const shift = 0xffe1;
const enter = 0xff0d;
/** Characters that a keyboard of the United States has above others. */
const shifted = /[A-Z~!@#$%^&*()_+{}|:"<>?]/;

/** A graphical console by the remote framebuffer protocol (RFC 6143) in a websocket, as noVNC opens it. */
export class GraphicalConsole {
  readonly #socket: WebSocket;
  #received = Buffer.alloc(0);
  #trouble: string | undefined;
  /** The server's first words. */
  banner = '';
  /** The name of the desktop. */
  desktop = '';

  private constructor(url: URL, origin: string) {
    // A browser says whose page it is; the proxy lets in only its own.
    this.#socket = new WebSocket(url, { protocols: 'binary', headers: { Origin: origin } });
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.addEventListener('message', ({ data }) => {
      this.#received = Buffer.concat([this.#received, Buffer.from(data as ArrayBuffer)]);
    });
    this.#socket.addEventListener('error', () => {
      this.#trouble = 'refused the connection';
    });
    this.#socket.addEventListener('close', ({ code, reason }) => {
      this.#trouble ??= `closed it with ${code} ${reason}`;
    });
  }

  /** @param page the address that Nova gives out, of a page whose `path` says where the websocket is */
  static async open(page: string): Promise<GraphicalConsole> {
    const { protocol, host, origin, searchParams } = new URL(page);
    const path = searchParams.get('path') ?? '';
    const url = new URL(path.replace(/^\/?/, '/'), `${protocol === 'https:' ? 'wss' : 'ws'}://${host}`);
    const console = new GraphicalConsole(url, origin);
    console.banner = (await console.#read(12)).toString();
    console.#send(Buffer.from(console.banner));
    const [count = 0] = await console.#read(1);
    const types = await console.#read(count);
    if (!types.includes(1)) throw new Error(`${host} wants another authentication than none: ${[...types].join(', ')}`);
    console.#send(Buffer.from([1]));
    const result = (await console.#read(4)).readUInt32BE();
    if (result !== 0) throw new Error(`${host} refused with ${result}`);
    console.#send(Buffer.from([1])); // others may look too
    const screen = await console.#read(24);
    console.desktop = (await console.#read(screen.readUInt32BE(20))).toString();
    return console;
  }

  /** Types a line and Enter. */
  type(line: string): void {
    for (const letter of line) {
      const upper = shifted.test(letter);
      if (upper) this.#key(shift, true);
      this.#key(letter.codePointAt(0) as number, true);
      this.#key(letter.codePointAt(0) as number, false);
      if (upper) this.#key(shift, false);
    }
    this.#key(enter, true);
    this.#key(enter, false);
  }

  close(): void {
    this.#socket.close();
  }

  #key(symbol: number, down: boolean): void {
    const message = Buffer.alloc(8);
    message[0] = 4;
    message[1] = down ? 1 : 0;
    message.writeUInt32BE(symbol, 4);
    this.#send(message);
  }

  #send(message: Buffer): void {
    this.#socket.send(new Uint8Array(message));
  }

  async #read(length: number): Promise<Buffer> {
    const taken = await until({
      what: `${length} bytes of the console`,
      seconds: 20,
      probe: async () => {
        if (this.#received.length >= length) return this.#received.subarray(0, length);
        if (this.#trouble !== undefined) throw new Error(`the console ${this.#trouble}`);
      },
    });
    this.#received = this.#received.subarray(length);
    return taken;
  }
}
