import { nearest } from '../../options/nearest.ts';

/** Drivers of volumes that Cinder 2025.1 has, below `cinder.volume.drivers` (its classes with the mark `volumedriver`). */
const volumeDrivers = `
  ceph.rbd_iscsi.RBDISCSIDriver
  datacore.driver.DataCoreVolumeDriver
  datacore.fc.FibreChannelVolumeDriver
  datacore.iscsi.ISCSIVolumeDriver
  datera.datera_iscsi.DateraDriver
  dell_emc.powerflex.driver.PowerFlexDriver
  dell_emc.powermax.fc.PowerMaxFCDriver
  dell_emc.powermax.iscsi.PowerMaxISCSIDriver
  dell_emc.powerstore.driver.PowerStoreDriver
  dell_emc.powerstore.nfs.PowerStoreNFSDriver
  dell_emc.powervault.fc.PVMEFCDriver
  dell_emc.powervault.iscsi.PVMEISCSIDriver
  dell_emc.sc.storagecenter_fc.SCFCDriver
  dell_emc.sc.storagecenter_iscsi.SCISCSIDriver
  dell_emc.unity.driver.UnityDriver
  dell_emc.vnx.driver.VNXDriver
  dell_emc.xtremio.XtremIOFCDriver
  dell_emc.xtremio.XtremIOISCSIDriver
  fujitsu.eternus_dx.eternus_dx_fc.FJDXFCDriver
  fujitsu.eternus_dx.eternus_dx_iscsi.FJDXISCSIDriver
  fungible.driver.FungibleDriver
  fusionstorage.dsware.DSWAREDriver
  hedvig.hedvig_cinder.HedvigISCSIDriver
  hitachi.hbsd_fc.HBSDFCDriver
  hitachi.hbsd_iscsi.HBSDISCSIDriver
  hpe.hpe_3par_fc.HPE3PARFCDriver
  hpe.hpe_3par_iscsi.HPE3PARISCSIDriver
  hpe.nimble.NimbleFCDriver
  hpe.nimble.NimbleISCSIDriver
  hpe.xp.hpe_xp_fc.HPEXPFCDriver
  hpe.xp.hpe_xp_iscsi.HPEXPISCSIDriver
  huawei.huawei_driver.HuaweiFCDriver
  huawei.huawei_driver.HuaweiISCSIDriver
  ibm.flashsystem_fc.FlashSystemFCDriver
  ibm.flashsystem_iscsi.FlashSystemISCSIDriver
  ibm.gpfs.GPFSDriver
  ibm.gpfs.GPFSNFSDriver
  ibm.gpfs.GPFSRemoteDriver
  ibm.ibm_storage.ibm_storage.IBMStorageDriver
  ibm.storwize_svc.storwize_svc_fc.StorwizeSVCFCDriver
  ibm.storwize_svc.storwize_svc_iscsi.StorwizeSVCISCSIDriver
  infinidat.InfiniboxVolumeDriver
  infortrend.infortrend_fc_cli.InfortrendCLIFCDriver
  infortrend.infortrend_iscsi_cli.InfortrendCLIISCSIDriver
  inspur.as13000.as13000_driver.AS13000Driver
  inspur.instorage.instorage_fc.InStorageMCSFCDriver
  inspur.instorage.instorage_iscsi.InStorageMCSISCSIDriver
  kaminario.kaminario_iscsi.KaminarioISCSIDriver
  kioxia.kumoscale.KumoScaleBaseVolumeDriver
  lenovo.lenovo_fc.LenovoFCDriver
  lenovo.lenovo_iscsi.LenovoISCSIDriver
  lightos.LightOSVolumeDriver
  linstordrv.LinstorDrbdDriver
  linstordrv.LinstorIscsiDriver
  lvm.LVMVolumeDriver
  macrosan.driver.MacroSANFCDriver
  macrosan.driver.MacroSANISCSIDriver
  nec.v.nec_v_fc.VStorageFCDriver
  nec.v.nec_v_iscsi.VStorageISCSIDriver
  nec.volume.MStorageFCDriver
  nec.volume.MStorageISCSIDriver
  netapp.common.NetAppDriver
  netapp.dataontap.fc_cmode.NetAppCmodeFibreChannelDriver
  netapp.dataontap.iscsi_cmode.NetAppCmodeISCSIDriver
  netapp.dataontap.nfs_cmode.NetAppCmodeNfsDriver
  netapp.dataontap.nvme_cmode.NetAppCmodeNVMeDriver
  nexenta.iscsi.NexentaISCSIDriver
  nexenta.nfs.NexentaNfsDriver
  nexenta.ns5.iscsi.NexentaISCSIDriver
  nexenta.ns5.nfs.NexentaNfsDriver
  nfs.NfsDriver
  open_e.iscsi.JovianISCSIDriver
  prophetstor.dpl_fc.DPLFCDriver
  prophetstor.dpl_iscsi.DPLISCSIDriver
  pure.PureFCDriver
  pure.PureISCSIDriver
  pure.PureNVMEDriver
  qnap.QnapISCSIDriver
  quobyte.QuobyteDriver
  rbd.RBDDriver
  rsd.RSDDriver
  san.hp.hpmsa_fc.HPMSAFCDriver
  san.hp.hpmsa_iscsi.HPMSAISCSIDriver
  sandstone.sds_driver.SdsISCSIDriver
  solidfire.SolidFireDriver
  spdk.SPDKDriver
  storpool.StorPoolDriver
  synology.synology_iscsi.SynoISCSIDriver
  toyou.acs5000.acs5000_fc.Acs5000FCDriver
  toyou.acs5000.acs5000_iscsi.Acs5000ISCSIDriver
  toyou.tyds.tyds.TYDSDriver
  veritas_access.veritas_iscsi.ACCESSIscsiDriver
  veritas_cnfs.VeritasCNFSDriver
  vmware.fcd.VMwareVStorageObjectDriver
  vmware.vmdk.VMwareVcVmdkDriver
  vzstorage.VZStorageDriver
  windows.iscsi.WindowsISCSIDriver
  windows.smbfs.WindowsSmbfsDriver
  yadro.tatlin_fc.TatlinFCVolumeDriver
  yadro.tatlin_iscsi.TatlinISCSIVolumeDriver
  zadara.zadara.ZadaraVPSAISCSIDriver
`;

/** Drivers of backups that it has, below `cinder.backup.drivers`. */
const backupDrivers = `
  ceph.CephBackupDriver
  gcs.GoogleBackupDriver
  glusterfs.GlusterfsBackupDriver
  nfs.NFSBackupDriver
  posix.PosixBackupDriver
  s3.S3BackupDriver
  swift.SwiftBackupDriver
`;

/** Former names, each with the present one that Cinder reads it as (`MAPPING` of its managers). */
const formerNames = `
  cinder.backup.drivers.google.GoogleBackupDriver cinder.backup.drivers.gcs.GoogleBackupDriver
  cinder.volume.drivers.dell_emc.vmax.fc.VMAXFCDriver cinder.volume.drivers.dell_emc.powermax.fc.PowerMaxFCDriver
  cinder.volume.drivers.dell_emc.vmax.iscsi.VMAXISCSIDriver cinder.volume.drivers.dell_emc.powermax.iscsi.PowerMaxISCSIDriver
  cinder.volume.drivers.dell_emc.vxflexos.driver.VxFlexOSDriver cinder.volume.drivers.dell_emc.powerflex.driver.PowerFlexDriver
  cinder.volume.drivers.fujitsu.eternus_dx_fc.FJDXFCDriver cinder.volume.drivers.fujitsu.eternus_dx.eternus_dx_fc.FJDXFCDriver
  cinder.volume.drivers.fujitsu.eternus_dx_iscsi.FJDXISCSIDriver cinder.volume.drivers.fujitsu.eternus_dx.eternus_dx_iscsi.FJDXISCSIDriver
  cinder.volume.drivers.nimble.NimbleFCDriver cinder.volume.drivers.hpe.nimble.NimbleFCDriver
  cinder.volume.drivers.nimble.NimbleISCSIDriver cinder.volume.drivers.hpe.nimble.NimbleISCSIDriver
  cinder.volume.drivers.zadara.ZadaraVPSAISCSIDriver cinder.volume.drivers.zadara.zadara.ZadaraVPSAISCSIDriver
`;

const words = (text: string): string[] => text.trim().split(/\s+/);
const below = (prefix: string, text: string): string[] => words(text).map((name) => `${prefix}.${name}`);

const known = {
  volume_driver: below('cinder.volume.drivers', volumeDrivers),
  backup_driver: below('cinder.backup.drivers', backupDrivers),
};
const former = new Map(
  formerNames
    .trim()
    .split('\n')
    .map((line) => words(line) as [string, string]),
);

/** The present name of a driver: the same driver may be stated by a former one. */
export const presentName = (name: string): string => former.get(name) ?? name;

/**
 * What is wrong with the class that an option names, of those that Cinder ships; classes of other packages are not known
 * here. Undefined when nothing is.
 */
export function driverMistake(option: keyof typeof known, name: string): string | undefined {
  const names = known[option];
  if (names.includes(name) || former.has(name)) return undefined;
  if (name.includes('.') && !name.startsWith('cinder.')) return undefined;
  const last = name.slice(name.lastIndexOf('.') + 1);
  const near = names.find((one) => one.endsWith(`.${last}`) || one.startsWith(`${name}.`)) ?? nearest(name, names);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return `expected the class of a driver of Cinder, got ${JSON.stringify(name)}${hint} (unknownOptions: Allow takes those that Cinder does not ship)`;
}

/** Whether a driver of volumes mounts shares, which it does as root. */
export function mounts(name: string): boolean {
  return /\.(\w*(Nfs|NFS)\w*|QuobyteDriver|VZStorageDriver)$/u.test(name);
}
