/**
 * Numeric users of the images (kolla/common/users.py, the same in 2025.1 to 2026.1): uid = gid. Part of the image
 * contract: our own images keep them.
 */
export const users = {
  root: 0,
  glance: 42415,
  keystone: 42425,
  qemu: 42427,
  mysql: 42434,
  neutron: 42435,
  nova: 42436,
  rabbitmq: 42439,
  memcached: 42457,
  libvirt: 42473,
  openvswitch: 42476,
  placement: 42482,
  /** The operator's own image. */
  operator: 65532,
} as const;

/** A user of the images. */
export type User = keyof typeof users;
