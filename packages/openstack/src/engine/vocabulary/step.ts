import type { Kind, KubeObject, StoredObject } from '@openstack-operator/kube';
import type { Reason } from '../status/reasons.ts';

/** How one value of a generated Secret is made. Values exist only where the operator writes them. */
export type Generator =
  /** `length` characters of [A-Za-z0-9] (production rule 21: nothing that a URL, an ini file or SQL would change). */
  | { readonly type: 'password'; readonly length: number }
  /** 32 random bytes, base64url: a key of the `cryptography` library's Fernet. */
  | { readonly type: 'fernetKey' }
  /** A private key of an elliptic curve (P-256), PKCS #8 as PEM. */
  | { readonly type: 'privateKey' }
  | CertificateGenerator
  /** A private key of SSH (Ed25519), in the format of OpenSSH, without a passphrase. */
  | { readonly type: 'sshPrivateKey' }
  /**
   * The line of `authorized_keys` that belongs to `key`, a value of the same Secret; with `hosts` that of `known_hosts`, for
   * hosts of this pattern.
   */
  | { readonly type: 'sshPublicKey'; readonly key: string; readonly comment: string; readonly hosts?: string }
  /** A key of Ceph (cephx), bare, as `ceph-authtool --gen-print-key` makes it. */
  | { readonly type: 'cephKey' }
  /** A key of BIND's control channel (HMAC-SHA256) as a statement of `rndc.conf` and `named.conf`. */
  | { readonly type: 'rndcKey'; readonly name: string }
  /** A name that is no secret but belongs to one (a user beside its password). */
  | { readonly type: 'literal'; readonly value: string };

/**
 * A certificate (X.509) as PEM, of the private key `key`. Keys of the same Secret are meant throughout. When two thirds of
 * its time are over it is made anew, of the same private key: what trusted it before goes on to. So it is when it is to be for
 * other host names, or when another authority signs.
 */
export interface CertificateGenerator {
  readonly type: 'certificate';
  readonly key: string;
  readonly commonName: string;
  /** How long it is valid from when it is made. */
  readonly seconds: number;
  /** It may sign others, and is nobody's server. */
  readonly authority?: true;
  /** Host names that it is for. */
  readonly dnsNames?: readonly string[];
  /** Certificate and private key of who signs it, of another Secret (`secret`) where it says so; default: itself. */
  readonly signedBy?: { readonly certificate: string; readonly key: string; readonly secret?: string };
}

/**
 * `credential`: may be issued anew, whoever uses it follows. `keyMaterial`: data is encrypted with it; once used it is
 * never generated again (production rule 20).
 */
export type SecretClass = 'credential' | 'keyMaterial';

/** Rotation of a directory of numbered Fernet keys, as `keystone-manage fernet_rotate` does it, by the operator. */
export interface KeyRotation {
  readonly intervalSeconds: number;
  /** Keys kept, the staged one included. */
  readonly maxActiveKeys: number;
}

/**
 * Rotation of a password that servers can be told two of: the one before goes to a Secret of its own first, then another
 * one is generated, and when no pod uses the one before any more, that is forgotten.
 */
export interface Succession {
  /** Name of the Secret that keeps the password before. */
  readonly previous: string;
  /** The request of users, if there is one. */
  readonly asked?: string;
  /** The age at which it is due without a request. */
  readonly intervalSeconds?: number;
  /** The generation whose predecessor is refused already. */
  readonly completed?: number;
}

/**
 * Replacement of an authority by another one with a key of its own, on request or when two thirds of its time are over: its
 * Secret has both certificates in `ca.crt` until all who trust it have them, and again until nobody shows a certificate of
 * the one before.
 */
export interface AuthoritySuccession {
  /** The request of users, if there is one. */
  readonly asked?: string;
}

/** What a step wants of one object. */
export type Desired =
  /** Server-side apply: stated whole, corrected whenever it differs. */
  | {
      readonly verb: 'apply';
      readonly object: KubeObject;
      /** Has no owner reference: outlives its resource (volumes; `deletionPolicy: Retain`). */
      readonly retained?: boolean;
      /** Field of the resource that is the object's spec: mistakes in it are told as the resource's. */
      readonly specFrom?: string;
      /** The step is done whatever becomes of it, and tells that. */
      readonly aside?: boolean;
      /** The step is done although its pods are not ready, and is Degraded, while no more such objects of all steps than so many are away. */
      readonly mostAway?: number;
      /** Kinds that the object, a resource of ours, has to reckon with before it is done (`status.peers`). */
      readonly peers?: readonly string[];
    }
  /** Made once: what is missing is generated, what exists is kept. `object` is a Secret without data. */
  | {
      readonly verb: 'generate';
      readonly object: KubeObject;
      readonly values: Readonly<Record<string, Generator>>;
      readonly secretClass: SecretClass;
      readonly retained?: boolean;
      readonly rotation?: KeyRotation;
      readonly succession?: Succession;
      /** Its authority (`ca.crt`, `ca.key`) is replaced so. */
      readonly authority?: AuthoritySuccession;
      /** Name of the volume claim or of the Job whose data it protects: existing data without this Secret is a loss. */
      readonly guards?: DataGuard;
      /** Keys that the Job which `guards` names has filled in once it is done: to be without one is a loss as well. */
      readonly filled?: readonly string[];
      /** Further keys, which a run of that Job with these inputs has filled in: they came with a change of the resource. */
      readonly filledBy?: { readonly inputs: string; readonly keys: readonly string[] };
      /** Keys that somebody else puts there, and what is said as long as one is not. */
      readonly issued?: { readonly keys: readonly string[]; readonly lacking: string };
    }
  /** Nodes that this cloud alone may use: labelled, by an update that only one writer can win. */
  | NodeClaim
  /** A Secret whose `stringData` holds `{{secret.key|filter}}` references, resolved where it is written. */
  | { readonly verb: 'resolve'; readonly object: KubeObject };

/** A claim on nodes: production rule 9. */
export interface NodeClaim {
  readonly verb: 'claim';
  /** Labels that claimed nodes get: the cloud, and the node group. */
  readonly labels: Readonly<Record<string, string>>;
  /** The role that its nodes have beside others; absent for the claim of a node group. */
  readonly role?: string;
  /**
   * It takes nodes that its cloud has already, too, unless they have one of these labels; absent: those that are nobody's
   * alone.
   */
  readonly apartFrom?: readonly string[];
  /** Labels that a node must have to be eligible. */
  readonly selector: Readonly<Record<string, string>>;
  /** How many; absent means every eligible node that is free. */
  readonly count?: number;
  /** Taints that its nodes may have; a node with any other that keeps pods away is not eligible. */
  readonly tolerations?: readonly Toleration[];
  readonly cleaning: NodeCleaning;
}

/** How nodes that another cloud has let go are cleaned before they are claimed. */
export interface NodeCleaning {
  /** Labels of a node from the first moment of its cleaning to the last: the claimant, and the node group. */
  readonly labels: Readonly<Record<string, string>>;
  /** Runs on nodes that the claimant cleans, whatever the group. A pod of it that is Ready says: its node is clean. */
  readonly daemonSet: KubeObject;
}

/** A taint that is put up with (core/v1). */
export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

/** What a step wants of an object, node claims left out. */
export type DesiredObject = Exclude<Desired, NodeClaim>;

/** Where the data lie that a Secret belongs to. */
export interface DataGuard {
  readonly kind: 'PersistentVolumeClaim' | 'Job';
  readonly name: string;
  /**
   * Of a Job: a volume claim that is there after it was filled alone. One that is older than the resource says so, too. Without
   * it nothing that an earlier resource has left says that the Job had filled its Secret.
   */
  readonly volume?: string;
  /** What is lost without the Secret, for the condition's message. */
  readonly data: string;
}

/** Another resource that must be Ready first. */
export interface Awaited {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** Why a step cannot be done until somebody changes something. */
export interface Problem {
  readonly reason: Reason;
  /** Names the field or object, the value, what was expected, the way out. */
  readonly message: string;
  /** Milliseconds after which it may be gone, where nothing tells of it. */
  readonly requeueAfter?: number;
}

/** Why a step is skipped on purpose. */
export interface Skip extends Problem {
  /** What the step would make: as long as there is one, it is not done. */
  readonly of?: KubeObject;
  /** The step has no condition where that does not exist. */
  readonly untold?: true;
}

/**
 * One step from a resource to a running service. Its name is the condition that it sets. A step whose `needs` are not
 * done is held back: nothing of it is written, and nothing that exists of it is removed.
 */
export interface Step {
  readonly condition: string;
  /** Conditions of the same resource. */
  readonly needs: readonly string[];
  readonly awaits: readonly Awaited[];
  readonly objects: readonly Desired[];
  readonly problem?: Problem;
  /** What of the spec is to be mended although the step can be done: its condition is met with reason `Degraded`. */
  readonly degraded?: readonly string[];
  /** What is to be said of the spec although nothing is wrong with it: told in the condition once it is met. */
  readonly remarks?: readonly string[];
  /** Set for a step that is skipped on purpose: done, with this reason and message. */
  readonly skipped?: Skip;
  /** Its StatefulSets keep the same data: one of them is changed at a time. */
  readonly inTurn?: true;
}

/** Something that keeps a step from being done, and what keeps that: a tree, down to the container that fails. */
export interface Cause {
  /** The object that it is about; absent for another step of the same resource, and for what is said of many. */
  readonly object?: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** The step that it is about. */
  readonly condition?: string;
  readonly reason: Reason;
  /** What is said of the object itself, without its causes. */
  readonly message: string;
  readonly causes: readonly Cause[];
}

/** How far a step has come. */
export interface Progress {
  readonly condition: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
  /** Of a wait: when it has lasted too long, in milliseconds since the epoch. */
  readonly deadline?: number;
  /** Milliseconds until it may be assessed otherwise without any change. */
  readonly requeueAfter?: number;
  /** Node agents of an older revision run, and wait to be replaced. */
  readonly outdated?: boolean;
  /** Agents are being replaced that have read other credentials, or addresses, than those of now. */
  readonly leaving?: boolean;
  /** What `message` is made from: all that keeps the step from being done, the first one first. */
  readonly causes?: readonly Cause[];
}

/** Reads what the cluster shows; undefined when there is no such object. */
export type Observe = (kind: Kind, ref: { namespace?: string; name: string }) => StoredObject | undefined;
