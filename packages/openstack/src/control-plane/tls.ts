import { type IssuerRef, isSameIssuer } from '../api/issuer.ts';
import {
  type ComposedTls,
  nextTls,
  type TlsState,
  tlsCondition,
  tlsField,
  tlsState,
} from '../engine/status/tls-steps.ts';
import type { Step } from '../engine/vocabulary/step.ts';
import type { Surroundings } from '../engine/vocabulary/surroundings.ts';
import { type Child, children } from './children.ts';
import { type ControlPlaneSpec, isEnabled, templateOf } from './spec.ts';

type Tls = ControlPlaneSpec['tls'];

/** What the APIs and their clients do now, and what they are to do. */
export interface ApiTls extends ComposedTls {
  readonly wanted: TlsState;
  /** Who signs the certificates of APIs now; undefined: the operator. */
  readonly issuer?: IssuerRef | undefined;
  /** How long certificates are valid, as the control plane says it. */
  readonly duration?: string | undefined;
  /** Another issuer is to sign: until nobody trusts the one before any more, the cloud goes without TLS. */
  readonly leaving?: boolean;
  /** What the other servers are told, by kind. */
  readonly servers: Readonly<Record<string, Tls>>;
}

/** What the APIs and their clients do now, by what the child whose clients trust it first is told, and are to do. */
export function apiTls(spec: ControlPlaneSpec, surroundings: Surroundings): ApiTls {
  const { tls: settled, release } = surroundings;
  const child = children.find(({ clientsTrustFirst }) => clientsTrustFirst);
  const servers = toldOf(spec, surroundings, (one) => !one.clientsTrustFirst && !one.isOwnClient);
  const ownClients = toldOf(spec, surroundings, ({ isOwnClient }) => isOwnClient);
  const stated = child && statedTls(spec, child);
  if (child === undefined || !isEnabled(spec, child.field) || stated !== undefined) {
    const now = tlsState(stated);
    const { enabled = false, issuerRef, duration } = spec.tls ?? {};
    const at = { now, wanted: now, wasSettled: settled === now, duration };
    // In no steps: the kinds refuse another issuer while clients connect by TLS.
    return {
      ...at,
      servers: {
        ...mapped(servers, (one) =>
          enabled ? signed(issuerRef, true) : serverTls(spec.tls, one, { ...at, atRest: false }),
        ),
        ...mapped(ownClients, (one) => ownClientTls(enabled, one, one?.tls !== undefined)),
      },
    };
  }
  const wanted = spec.tls?.enabled === true ? 'Enabled' : 'Off';
  const there = surroundings.peerSpec(child.kind);
  const tls = tlsThere(child.kind, surroundings);
  // Clients of one that is made anew are as they were.
  const asBefore = settled ?? (release.deployed === undefined || wanted === 'Off' ? wanted : 'Prepared');
  const present = there === undefined ? asBefore : tlsState(tls);
  const issuer = tls === undefined ? spec.tls?.issuerRef : tls.issuerRef;
  const leaving = wanted === 'Enabled' && !isSameIssuer(issuer, spec.tls?.issuerRef);
  const isOther = Object.values(servers).some((one) => one !== undefined && !hasIssuer(one, spec.tls));
  const isUnable = Object.values(ownClients).some((one) => one !== undefined && one.tls === undefined);
  // Servers get their certificates of another issuer before anything else is done, and clients of their own are able to.
  const known = isOther || (isUnable && wanted === 'Enabled') ? undefined : settled;
  const now = nextTls(leaving ? 'Off' : wanted, present, known);
  const at = { now, wanted, leaving, atRest: present !== 'Off' && settled === present } as const;
  return {
    ...at,
    wasSettled: present === now && known === now,
    issuer,
    duration: spec.tls?.duration,
    servers: {
      ...mapped(servers, (one) => serverTls(spec.tls, one, at)),
      ...mapped(ownClients, (one) => ownClientTls(wanted === 'Enabled', one, known === 'Enabled')),
    },
  };
}

/** What a child other than the first one is told as it is there; undefined for one that is not there. */
type There = { readonly tls: Tls } | undefined;

/** Children of these that are told what the control plane says, by kind. */
function toldOf(
  spec: ControlPlaneSpec,
  surroundings: Surroundings,
  ofThese: (child: Child) => boolean,
): Readonly<Record<string, There>> {
  return Object.fromEntries(
    children.flatMap((child) => {
      if (!ofThese(child) || !child.has('tls') || statedTls(spec, child) !== undefined) return [];
      const isThere = isEnabled(spec, child.field) && surroundings.peerSpec(child.kind) !== undefined;
      return [[child.kind, isThere ? { tls: tlsThere(child.kind, surroundings) } : undefined] as const];
    }),
  );
}

function mapped<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function tlsThere(kind: string, { peerSpec }: Surroundings): Tls {
  const there: ControlPlaneSpec | undefined = peerSpec(kind);
  return there?.tls;
}

const hasIssuer = (there: NonNullable<There>, tls: Tls): boolean => isSameIssuer(there.tls?.issuerRef, tls?.issuerRef);

/**
 * What a server is told. It gets a certificate of another issuer, for which it starts anew, when nobody connects to it by TLS,
 * and nothing else changes: clients that are replaced at the same time might take its place on the node. They connect by TLS
 * when it has that.
 * @param atRest whether all are done with what they were told before
 */
function serverTls(
  stated: Tls,
  there: There,
  { now, wanted, leaving = false, atRest }: Pick<ApiTls, 'now' | 'wanted' | 'leaving'> & { readonly atRest: boolean },
): Tls {
  const { enabled = false, issuerRef } = stated ?? {};
  if (there !== undefined && !hasIssuer(there, stated)) {
    const turns = atRest && there.tls?.enabled !== true;
    return signed(turns ? issuerRef : there.tls?.issuerRef, false);
  }
  // What has come to it stays there: the look after that does not count as settled, and would take it back.
  const comes = issuerRef === undefined || now === wanted || there?.tls?.enabled === true;
  return signed(issuerRef, enabled && !leaving && comes);
}

/**
 * What a child is told that is its own client: to be able to at first, and to do it when all are. It stays able to, as there is no
 * telling when the last one ends that was started so.
 * @param areAble whether all are done with what they were told, this child among them
 */
function ownClientTls(enabled: boolean, there: There, areAble: boolean): Tls {
  if (!enabled) return there?.tls && { enabled: false };
  return { enabled: there === undefined || there.tls?.enabled === true || (there.tls !== undefined && areAble) };
}

/** Without TLS and an issuer nothing is said. */
function signed(issuerRef: IssuerRef | undefined, enabled: boolean): Tls {
  return enabled || issuerRef !== undefined ? { enabled, ...(issuerRef && { issuerRef }) } : undefined;
}

/** Holds a cloud back from being Ready while TLS of its APIs is not what it is to be. */
export function tlsStep({ now, wanted, leaving = false }: ApiTls): readonly Step[] {
  if (now === wanted && !leaving) return [];
  const message = leaving
    ? 'spec.tls.issuerRef: another one is to sign; all connect without TLS, until nobody trusts the one before any more, and by TLS again then'
    : wanted === 'Enabled'
      ? 'spec.tls.enabled: APIs get ports with TLS, and their clients an authority to trust; once all have it, they use it'
      : 'spec.tls.enabled: clients return to the ports of APIs without TLS; once all have, those with TLS are closed';
  return [{ condition: tlsCondition, needs: [], awaits: [], objects: [], problem: { reason: 'Progressing', message } }];
}

const ownTls = (spec: ControlPlaneSpec, { field }: Child): Tls => (templateOf(spec, field) as ControlPlaneSpec).tls;

/** What a template says of TLS: how long certificates are valid, alone, does not say whether it is used. */
function statedTls(spec: ControlPlaneSpec, child: Child): Tls {
  const own = ownTls(spec, child);
  return own?.duration !== undefined && Object.keys(own).length === 1 ? undefined : own;
}

/** What a child is told of TLS: what its template says, else as the steps have it. */
export function tlsOf({ spec, tls }: { readonly spec: ControlPlaneSpec; readonly tls: ApiTls }, child: Child): Tls {
  const stated = statedTls(spec, child);
  if (stated !== undefined || !child.has('tls')) return stated;
  const { now, issuer } = tls;
  const duration = ownTls(spec, child)?.duration ?? tls.duration;
  const field = tlsField(now);
  const told = child.clientsTrustFirst
    ? field && { ...field, ...(issuer && { issuerRef: issuer }) }
    : tls.servers[child.kind];
  return told && { ...told, ...(duration !== undefined && { duration }) };
}
