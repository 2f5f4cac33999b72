import type { BridgeMapping } from '../../api/node-groups.ts';
import type { Phase } from '../status/phases.ts';
import type { ClaimedGroup } from './node-groups.ts';
import type { Asked } from './service.ts';

/** A service's place in a control plane. */
export interface Child {
  /** Field of the control plane's spec that is its template. */
  readonly field: string;
  /** It is named `<control plane>-<suffix>`; default: the field. */
  readonly suffix?: string;
  readonly phase: Phase;
  /** What it is, in a sentence. */
  readonly description: string;
  /** Only a cloud that states its field has it, be it as `{}`; absent: every cloud that does not disable it. */
  readonly optional?: true;
  /** Its clients have to trust its authority before it sends them to ports with TLS, and as long as it does. */
  readonly clientsTrustFirst?: true;
  /**
   * What it serves by TLS (`spec.tls`) has clients among its own components alone. They have to be able to before it does, and from
   * then on: what was started so serves by TLS for as long as it runs.
   */
  readonly isOwnClient?: true;
  /** Fields of its template that follow from the rest of the control plane. */
  readonly fields?: (cloud: CloudTemplates) => Readonly<Record<string, unknown>>;
}

/** What a control plane says, as far as a child's template follows from it. */
export interface CloudTemplates {
  /** The child's own template. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Domain below which the APIs are reached from outside. */
  readonly publicDomain: string;
  /** Node groups that the other children claim. */
  readonly groups: readonly ClaimedGroup[];
  /** What other children have to find in this one (`Stated.asks`). */
  readonly asked: readonly Asked[];
  /** Bridges that other children ask of all nodes. */
  readonly bridges: AskedBridges | undefined;
  /** How many connections all children may hold open of the database server. */
  readonly connections: () => number;
}

/** Bridges that a service asks of all nodes; `isDefault` when nobody states them. */
export interface AskedBridges {
  readonly mappings: readonly BridgeMapping[];
  readonly isDefault: boolean;
}
