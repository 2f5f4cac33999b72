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

/** What the APIs and their clients do now, by what the child whose clients trust it first is told, and are to do. */
export function apiTls(
  spec: ControlPlaneSpec,
  surroundings: Surroundings,
): ComposedTls & { readonly wanted: TlsState } {
  const { peerSpec, tls: settled, release } = surroundings;
  const child = children.find(({ clientsTrustFirst }) => clientsTrustFirst);
  if (child === undefined || !isEnabled(spec, child.field)) return { now: 'Off', wanted: 'Off', wasSettled: false };
  const { tls: stated } = templateOf(spec, child.field) as ControlPlaneSpec;
  if (stated !== undefined) {
    const now = tlsState(stated);
    return { now, wanted: now, wasSettled: settled === now };
  }
  const wanted = spec.tls?.enabled === true ? 'Enabled' : 'Off';
  const there: ControlPlaneSpec | undefined = peerSpec(child.kind);
  // Clients of one that is made anew are as they were.
  const asBefore = settled ?? (release.deployed === undefined || wanted === 'Off' ? wanted : 'Prepared');
  const present = there === undefined ? asBefore : tlsState(there.tls);
  const now = nextTls(wanted, present, settled);
  return { now, wanted, wasSettled: present === now && settled === now };
}

/** Holds a cloud back from being Ready while TLS of its APIs is not what it is to be. */
export function tlsStep({ now, wanted }: ReturnType<typeof apiTls>): readonly Step[] {
  if (now === wanted) return [];
  const message =
    wanted === 'Enabled'
      ? 'spec.tls.enabled: APIs get ports with TLS, and their clients an authority to trust; once all have it, they use it'
      : 'spec.tls.enabled: clients return to the ports of APIs without TLS; once all have, those with TLS are closed';
  return [{ condition: tlsCondition, needs: [], awaits: [], objects: [], problem: { reason: 'Progressing', message } }];
}

/** What a child is told of TLS where its template says nothing. */
export function tlsOf(
  { spec, tls }: { readonly spec: ControlPlaneSpec; readonly tls: TlsState },
  child: Child,
): { readonly enabled: boolean } | undefined {
  if (!child.has('tls')) return undefined;
  if (child.clientsTrustFirst) return tlsField(tls);
  return spec.tls?.enabled === true ? { enabled: true } : undefined;
}
