import { authority } from '../../engine/vocabulary/addresses.ts';

/** One of the two databases of an OVN. */
export interface Database {
  /** What names of its programs and options have, and with `-db` its component. */
  readonly side: 'nb' | 'sb';
  /** As OVSDB calls it. */
  readonly schema: 'OVN_Northbound' | 'OVN_Southbound';
  /** The field that says how many members it has. */
  readonly field: 'northboundDBReplicas' | 'southboundDBReplicas';
  /** Where clients connect to. */
  readonly port: number;
  /** The same by TLS. */
  readonly tlsPort: number;
  /** Where its members meet. */
  readonly raftPort: number;
}

/** Both. */
export const databases = {
  northbound: {
    side: 'nb',
    schema: 'OVN_Northbound',
    field: 'northboundDBReplicas',
    port: 6641,
    tlsPort: 16_641,
    raftPort: 6643,
  },
  southbound: {
    side: 'sb',
    schema: 'OVN_Southbound',
    field: 'southboundDBReplicas',
    port: 6642,
    tlsPort: 16_642,
    raftPort: 6644,
  },
} as const satisfies Readonly<Record<string, Database>>;

/** Whether clients of an OVNNetwork's databases connect by TLS. */
export function isByTls(ovn: object): boolean {
  const { spec: { tls } = {} } = ovn as { readonly spec?: { readonly tls?: { readonly enabled?: boolean } } };
  return tls?.enabled === true;
}

/** Where a database answers on a host, as clients of an OVNNetwork connect. */
export function remoteAt(ovn: object, { port, tlsPort }: Database, host: string): string {
  return isByTls(ovn) ? `ssl:${authority(host, tlsPort)}` : `tcp:${authority(host, port)}`;
}
