export { builtInKinds, routeKinds } from './api/built-in-kinds.ts';
export { crd, objectSchema } from './api/crd.ts';
export { type Api, type ApiObject, group, type PrinterColumn, version } from './api/define-api.ts';
export type { GatewayRef } from './api/exposure.ts';
export { nameLength } from './api/names.ts';
export { neededFields } from './api/needed-fields.ts';
export type { BridgeMapping } from './api/node-groups.ts';
export { scheduleMistakes } from './api/schedule-words.ts';
export type { ScheduleStatus } from './api/schedules.ts';
export { type ComponentOverrides, type Resources, type Tolerations, withWords } from './api/scheduling.ts';
export type { BroughtKind, Field, Infer, OpenApiSchema, Rule } from './api/schema.ts';
export type { ClaimedNode, ReleaseStatus } from './api/status.ts';
export type { Storage } from './api/storage.ts';
export type { Config, ConfigValue } from './api/template.ts';
export { advance } from './assess/advance.ts';
export { assessAll } from './assess/assess.ts';
export { advanceMembers } from './assess/members.ts';
export type { Observed, UncleanNode } from './assess/observed.ts';
export { children } from './control-plane/children.ts';
export { composeControlPlane } from './control-plane/compose.ts';
export {
  OpenStackControlPlane,
  type OpenStackControlPlaneSpec,
  type OpenStackControlPlaneStatus,
} from './control-plane/kind.ts';
export { childNameOf, type Peer, peerOf, type Root, rootNamed, roots } from './control-plane/root.ts';
export {
  type DataPlaneNode,
  OpenStackDataPlane,
  type OpenStackDataPlaneSpec,
  type OpenStackDataPlaneStatus,
} from './dataplane/kind.ts';
export { type Composition, compose } from './engine/compose/compose.ts';
export {
  type Deregistration,
  deregistration,
  deregistrationSeconds,
  leavesRecords,
} from './engine/compose/deregistration.ts';
export { rememberedIn, withoutForgotten } from './engine/compose/lasting.ts';
export { keyIdOf, templateOf } from './engine/names/credential-digest.ts';
export { digest } from './engine/names/digest.ts';
export {
  annotations,
  auditSuffix,
  claimantOf,
  cleaningLabel,
  cloudLabel,
  cloudOf,
  deregistrationSuffix,
  fieldManager,
  finalizers,
  labelsOf,
  lastingSuffix,
  nodeGroupLabel,
  recordsJobs,
  resourceCount,
  retainedFor,
  retainedForLabel,
} from './engine/names/names.ts';
export { ownValue } from './engine/names/own-value.ts';
export { bytesOf } from './engine/names/quantity.ts';
export { isRoot, rootOf } from './engine/names/roots.ts';
export {
  prefix,
  type WellKnownName,
  type WellKnownNames,
  wellKnownAnnotations,
  wellKnownFinalizers,
  wellKnownLabels,
} from './engine/names/well-known.ts';
export { resourceCountJob } from './engine/objects/count-job.ts';
export { gatewayFacts } from './engine/objects/route-problem.ts';
export { isNodeAgent, isSelected, nodeStates, unreadySince } from './engine/status/agents.ts';
export { conditionOf, isStale, reconcileRequestOf } from './engine/status/conditions.ts';
export { deadlines, troubleOf, wasReady } from './engine/status/deadlines.ts';
export { eventOf, eventReasons } from './engine/status/event-reasons.ts';
export { phases } from './engine/status/phases.ts';
export { podWords, refusalWords } from './engine/status/pod-words.ts';
export { type Effect, effects, eventTypeOf, isPending, type Reason, reasons } from './engine/status/reasons.ts';
export { joinedNode, type RecordedNodes, recordedIn, recordOf } from './engine/status/recorded-nodes.ts';
export { linesLeftBy, scheduleStatus, suspendedWords } from './engine/status/schedule-status.ts';
export { terminationMessageOf } from './engine/status/termination-message.ts';
export { type ComposedTls, settledTls, stillSettled, type TlsState } from './engine/status/tls-steps.ts';
export type { ResourceApi } from './engine/vocabulary/cloud-resources.ts';
export { commonAccounts, heldAccounts } from './engine/vocabulary/common-accounts.ts';
export type { Members } from './engine/vocabulary/component.ts';
export { externalOf } from './engine/vocabulary/context.ts';
export type { Counting, CountPlan, Scheduling } from './engine/vocabulary/counting.ts';
export { fieldFor, mentionsOf, neededBy, referencesOf } from './engine/vocabulary/dependencies.ts';
export type { EmptyPlan } from './engine/vocabulary/emptying.ts';
export { gatewayOf } from './engine/vocabulary/exposure.ts';
export { foreignKindsOf } from './engine/vocabulary/foreign-kinds.ts';
export type { ForgetPlan } from './engine/vocabulary/forgetting.ts';
export type { MemberList, MirrorApi, Names } from './engine/vocabulary/memberships.ts';
export { nodeGroupOf } from './engine/vocabulary/node-groups.ts';
export {
  type Capability,
  defineService,
  type Found,
  type HeldBy,
  type Service,
  type Told,
} from './engine/vocabulary/service.ts';
export type {
  Cause,
  DataGuard,
  Desired,
  DesiredObject,
  Generator,
  KeyRotation,
  NodeClaim,
  NodeCleaning,
  Observe,
  Problem,
  Progress,
  Step,
  Toleration,
} from './engine/vocabulary/step.ts';
export {
  configMapDigest,
  type GatewayFacts,
  type KnownSurroundings,
  type Lacking,
  type NodeFacts,
  type OperatorSurroundings,
  type ReferenceField,
  type Resolved,
  type Rotation,
  type ServiceResource,
  type ServiceSpec,
  type Surroundings,
  surroundingsOf,
  type Twin,
} from './engine/vocabulary/surroundings.ts';
export { CephStorage, type CephStorageSpec, type CephStorageStatus } from './infrastructure/ceph/kind.ts';
export { MariaDB, type MariaDBSpec, type MariaDBStatus } from './infrastructure/mariadb/kind.ts';
export type { DatabaseRef } from './infrastructure/mariadb/reference.ts';
export { Memcached, type MemcachedSpec, type MemcachedStatus } from './infrastructure/memcached/kind.ts';
export type { CacheRef } from './infrastructure/memcached/reference.ts';
export { nodeCleaning } from './infrastructure/node-cleaning.ts';
export {
  type ChassisGroup,
  OVNNetwork,
  type OVNNetworkSpec,
  type OVNNetworkStatus,
} from './infrastructure/ovn/kind.ts';
export type { OVNRef } from './infrastructure/ovn/reference.ts';
export { RabbitMQ, type RabbitMQSpec, type RabbitMQStatus } from './infrastructure/rabbitmq/kind.ts';
export type { MessageQueueRef } from './infrastructure/rabbitmq/reference.ts';
export { nearest } from './options/nearest.ts';
export { referencesIn, resolveReferences, urlEncoded } from './oslo/references.ts';
export { type Action, type Plan, runsPods, soonest, statedObjects } from './plan/action.ts';
export { isLiveAs, noted, withAnnotation, withoutReplicas } from './plan/applied.ts';
export { cronJobsOf, hasEnded, isRunning } from './plan/audits.ts';
export { authorityStatus } from './plan/authority.ts';
export { backdated, signersOf } from './plan/certificates.ts';
export { type ClaimPlan, claimPlans, originOf, released, reservedNodes } from './plan/claims.ts';
export {
  claimants,
  hasLabels,
  isEligible,
  isLostBy,
  isNobodys,
  lostNode,
  nodesByCloud,
  recordedNodes,
} from './plan/cluster-nodes.ts';
export { containersOf, hasRun } from './plan/container-states.ts';
export { planGenerated, rotationDueAt, rotationOf } from './plan/generated.ts';
export { carriesGuests, isHeldByUsers, protectFinalizer } from './plan/held-kinds.ts';
export { KeyMaterialMissingError } from './plan/key-material.ts';
export type { Hold, Live } from './plan/live.ts';
export { ownershipOf } from './plan/ownership.ts';
export { plan, planSteps, planUpkeep } from './plan/plan.ts';
export { prunedKinds, unwantedHeld } from './plan/prune.ts';
export { sameFields } from './plan/same-fields.ts';
export { checkVolumes, takenOverVolume, type Volumes } from './plan/volumes.ts';
export { apiBlocks } from './registry/blocks.ts';
export {
  broughtBy,
  dataKinds,
  furtherKinds,
  kindOf,
  kindReferredBy,
  kinds,
  knownKindOf,
  secretsReadBy,
} from './registry/kinds.ts';
export { Adjutant, type AdjutantSpec, type AdjutantStatus } from './services/adjutant/kind.ts';
export { Aodh, type AodhSpec, type AodhStatus } from './services/aodh/kind.ts';
export { Barbican, type BarbicanSpec, type BarbicanStatus } from './services/barbican/kind.ts';
export { Blazar, type BlazarSpec, type BlazarStatus } from './services/blazar/kind.ts';
export { Ceilometer, type CeilometerSpec, type CeilometerStatus } from './services/ceilometer/kind.ts';
export { Cinder, type CinderSpec, type CinderStatus } from './services/cinder/kind.ts';
export { CloudKitty, type CloudKittySpec, type CloudKittyStatus } from './services/cloudkitty/kind.ts';
export { Cyborg, type CyborgSpec, type CyborgStatus } from './services/cyborg/kind.ts';
export { Designate, type DesignateSpec, type DesignateStatus } from './services/designate/kind.ts';
export { Freezer, type FreezerSpec, type FreezerStatus } from './services/freezer/kind.ts';
export { Glance, type GlanceSpec, type GlanceStatus } from './services/glance/kind.ts';
export { Gnocchi, type GnocchiSpec, type GnocchiStatus } from './services/gnocchi/kind.ts';
export { Heat, type HeatSpec, type HeatStatus } from './services/heat/kind.ts';
export { Horizon, type HorizonSpec, type HorizonStatus } from './services/horizon/kind.ts';
export { services } from './services/index.ts';
export { Ironic, type IronicSpec, type IronicStatus } from './services/ironic/kind.ts';
export { Keystone, type KeystoneSpec, type KeystoneStatus } from './services/keystone/kind.ts';
export type { KeystoneRef } from './services/keystone/reference.ts';
export { Magnum, type MagnumSpec, type MagnumStatus } from './services/magnum/kind.ts';
export { Manila, type ManilaSpec, type ManilaStatus } from './services/manila/kind.ts';
export { Masakari, type MasakariSpec, type MasakariStatus } from './services/masakari/kind.ts';
export { Mistral, type MistralSpec, type MistralStatus } from './services/mistral/kind.ts';
export { Neutron, type NeutronSpec, type NeutronStatus } from './services/neutron/kind.ts';
export { type NodeGroup, Nova, type NovaCell, type NovaSpec, type NovaStatus } from './services/nova/kind.ts';
export { Octavia, type OctaviaSpec, type OctaviaStatus } from './services/octavia/kind.ts';
export { Placement, type PlacementSpec, type PlacementStatus } from './services/placement/kind.ts';
export { Skyline, type SkylineSpec, type SkylineStatus } from './services/skyline/kind.ts';
export { Storlets, type StorletsSpec, type StorletsStatus } from './services/storlets/kind.ts';
export { Swift, type SwiftSpec, type SwiftStatus } from './services/swift/kind.ts';
export { Tacker, type TackerSpec, type TackerStatus } from './services/tacker/kind.ts';
export { Trove, type TroveSpec, type TroveStatus } from './services/trove/kind.ts';
export { Venus, type VenusSpec, type VenusStatus } from './services/venus/kind.ts';
export { Vitrage, type VitrageSpec, type VitrageStatus } from './services/vitrage/kind.ts';
export { Watcher, type WatcherSpec, type WatcherStatus } from './services/watcher/kind.ts';
export { Zaqar, type ZaqarSpec, type ZaqarStatus } from './services/zaqar/kind.ts';
export { Zun, type ZunSpec, type ZunStatus } from './services/zun/kind.ts';
