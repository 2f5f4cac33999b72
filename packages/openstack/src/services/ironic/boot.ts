import type { Component } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { IronicSpec } from './kind.ts';

/** Where a conductor keeps images, and what machines boot from. */
export const state = '/var/lib/ironic';

/** Where machines get all but the first program that they boot. */
export const httpPort = 8088;

/** What Ironic expects to be there. */
export const makeFolders = `cd ${state}
mkdir -p httpboot tftpboot tmp images master_images master_tftp
`;

/** Where machines get the first program that they boot. */
const loaders = '/var/lib/tftpboot';

/** As packages of iPXE have them: that of a BIOS, and that of UEFI. */
const placeLoaders = `for name in undionly.kpxe snponly.efi; do
  from=/usr/lib/ipxe/$name
  if [ ! -e "$from" ]; then from=/usr/share/ipxe/$name; fi
  cp "$from" ${loaders}/$name
done
`;

/**
 * Files as they are: no application is there for what is none of them. Images that agents download are links to where conductors
 * cache them (ironic/drivers/modules/deploy_utils.py), which uwsgi does not follow to a place that is not named safe.
 */
export const serveFiles = `[uwsgi]
if-not-plugin = python
plugins = python3
endif =
http-socket = 0.0.0.0:${httpPort}
static-map = /=${state}/httpboot
static-safe = ${state}/images
master = true
processes = 1
threads = 8
die-on-term = true
`;

/** The files of the component `boot`; no password is among them. */
export function bootFiles({ provisioning, dhcpRange }: IronicSpec, conductor: string): ConfigFiles {
  if (provisioning === undefined) return {};
  const { interface: name, address } = provisioning;
  return {
    '/etc/ironic/dnsmasq.conf': `port=0
keep-in-foreground
log-facility=-
user=root
group=root
pid-file=
interface=${name}
bind-dynamic
enable-tftp
tftp-root=${loaders}
${dhcpRange === undefined ? '' : addresses(dhcpRange, address)}`,
    '/etc/ironic/haproxy.cfg': `defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend machines
  bind *:${httpPort}
  default_backend conductor
backend conductor
  server conductor ${conductor}:${httpPort}
`,
  };
}

/** Who has iPXE already goes on by HTTP. */
const addresses = (range: string, address: string): string => `dhcp-range=${range.replace('-', ',')},10m
dhcp-leasefile=/tmp/dnsmasq.leases
dhcp-match=set:ipxe,175
dhcp-match=set:efi,option:client-arch,7
dhcp-match=set:efi,option:client-arch,9
dhcp-boot=tag:ipxe,http://${address}:${httpPort}/boot.ipxe
dhcp-boot=tag:!ipxe,tag:efi,snponly.efi
dhcp-boot=tag:!ipxe,tag:!efi,undionly.kpxe
`;

/** On a node in the network that machines boot in. */
export const boot: Component = {
  workload: 'Deployment',
  // Its ports are those of its node.
  strategy: 'Recreate',
  image: 'dnsmasq',
  user: 'root',
  config: 'boot',
  // dnsmasq listens at ports below 1024, answers who has no address yet, and sets its group even if that stays the same.
  host: { network: true, capabilities: ['NET_ADMIN', 'NET_BIND_SERVICE', 'NET_RAW', 'SETGID'] },
  init: [{ name: 'boot-loaders', image: 'ironic-pxe', runs: { script: placeLoaders } }],
  runs: { command: ['dnsmasq', '--conf-file=/etc/ironic/dnsmasq.conf'] },
  health: { connected: 'dnsmasq', to: [] },
  ports: { http: httpPort },
  service: 'none',
  reachable: 'anyone',
  mounts: [{ path: loaders, scratch: true }],
  resources: { cpu: '10m', memory: '32Mi' },
  sidecars: [
    {
      name: 'http-proxy',
      image: 'haproxy',
      user: 'ironic',
      runs: { command: ['haproxy', '-f', '/etc/ironic/haproxy.cfg'] },
      ports: ['http'],
      health: { tcp: 'http' },
      resources: { cpu: '10m', memory: '64Mi' },
    },
  ],
};
