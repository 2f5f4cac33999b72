import { admin, externalNetwork, guestImage, member, networks, tiny } from '../fixture.ts';
import { inNode } from '../node.ts';
import type { User } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';

/** A qemu of the node: the same pid can be given away again, but not with the same start time. */
export interface Process {
  readonly pid: string;
  /** Clock ticks after the machine's boot. */
  readonly started: string;
}

/** A server, and the process that is its guest. */
export class Guest {
  readonly user: User;
  readonly server: Server;

  constructor(user: User, server: Server) {
    this.user = user;
    this.server = server;
  }

  static async create(name: string): Promise<Guest> {
    const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
    const server = await Server.create(user, { name, image, flavor, networks: [{ uuid: near }] });
    await server.reaches('ACTIVE', 300);
    await server.says(/^== READY/m, 300);
    return new Guest(user, server);
  }

  /** The qemu that runs it. @throws Error when there is none, or more than one */
  async process(): Promise<Process> {
    const script = `for pid in $(pgrep qemu-system); do
      if tr '\\0' '\\n' < "/proc/$pid/cmdline" | grep -qx "$1"; then echo "$pid $(cut -d ' ' -f 22 "/proc/$pid/stat")"; fi
    done`;
    const found = await inNode('sh', '-c', script, 'sh', this.server.id);
    const [first, ...more] = found.split('\n').filter((line) => line !== '');
    const [pid, started] = first?.split(' ') ?? [];
    if (pid === undefined || started === undefined || more.length > 0) {
      throw new Error(
        `server ${this.server.name} has ${first === undefined ? 'no' : 'several'} qemu in the node: ${found}`,
      );
    }
    return { pid, started };
  }

  /** Seconds that the guest has run, by what it says every two seconds: all that it said since it booted. */
  async uptimes(): Promise<number[]> {
    return [...(await this.server.console()).matchAll(/^== UPTIME ([\d.]+)$/gm)].map(([, said]) => Number(said));
  }

  /** Waits until it says something new; the guest must not have booted meanwhile. */
  async goesOn(seconds: number): Promise<void> {
    const before = (await this.uptimes()).at(-1) ?? 0;
    await until({
      what: `the console of ${this.server.name} to go on after "== UPTIME ${before}"`,
      seconds,
      probe: async () => ((await this.uptimes()).at(-1) === before ? undefined : true),
    });
    const all = await this.uptimes();
    const back = all.findIndex((uptime, index) => uptime < (all[index - 1] ?? 0));
    if (back >= 0) throw new Error(`${this.server.name} booted anew: uptime ${all[back - 1]}, then ${all[back]}`);
  }

  /** Gives it an address outside that answers pings. */
  async floatingAddress(): Promise<string> {
    const { user } = this;
    const [port] = await user.call<{ id: string }[]>('network.ports', { device_id: this.server.id });
    const [group] = await user.call<{ id: string }[]>('network.security_groups', { name: 'default' });
    await user.call('network.create_security_group_rule', {
      security_group_id: group?.id,
      direction: 'ingress',
      ethertype: 'IPv4',
      remote_ip_prefix: '0.0.0.0/0',
      protocol: 'icmp',
    });
    const { floating_ip_address: address } = await user.call<{ floating_ip_address: string }>('network.create_ip', {
      floating_network_id: await externalNetwork(),
      port_id: port?.id,
    });
    return address;
  }

  /** Stops and starts it, as a user would: then another process runs it. */
  async stopAndStart(): Promise<void> {
    const before = await this.process();
    await this.user.call('compute.stop_server', this.server.id);
    await this.server.reaches('SHUTOFF', 240);
    await this.user.call('compute.start_server', this.server.id);
    await this.server.reaches('ACTIVE', 240);
    await this.server.says(/^== READY/m, 240);
    const after = await this.process();
    if (after.pid === before.pid && after.started === before.started) {
      throw new Error(`${this.server.name} was stopped and started, but its qemu is still ${before.pid}`);
    }
  }
}

/** Whether the hypervisor takes work: its service is up. */
export async function computeIsUp(seconds: number): Promise<void> {
  await until({
    what: 'nova-compute to be up',
    seconds,
    probe: async () => {
      const services = await admin.call<{ binary: string; state: string }[]>('compute.services', {
        binary: 'nova-compute',
      });
      return services.length > 0 && services.every(({ state }) => state === 'up') ? true : undefined;
    },
  });
}
