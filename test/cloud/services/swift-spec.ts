/** The Swift of all files that enable one: its volumes outlive a test, and with them the policies. */
export const swiftSpec = {
  enabled: true,
  storagePolicy: { replicaCount: 1 },
  storagePolicies: [{ index: 1, name: 'other', replicaCount: 1 }],
  storageNodes: 1,
  storage: { size: '1Gi' },
  // Volumes of the cluster may be of ext4.
  checkDevices: false,
} as const;
