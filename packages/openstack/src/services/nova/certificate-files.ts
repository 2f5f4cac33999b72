import { authorityKey } from '../../engine/vocabulary/trust.ts';

/** What a node has of a Secret with a certificate. */
export interface CertificateFiles {
  /** Where the pod has it. */
  readonly folder: string;
  /** Where QEMU has it, on the node. */
  readonly qemuFolder: string;
  /** Lines of a shell that put its keys where they are read: `give <key> <path> <mode> || return 1`. */
  readonly give: string;
  /** Command of a shell that has renewed ones read; where it fails it is tried again. */
  readonly reload: string;
  /** Whether it runs at the start as well, as soon as it can. */
  readonly atStart?: boolean;
}

/**
 * Puts certificates where libvirtd and QEMU read them, and renewed ones after them. Runs while the script is in its pod's control
 * groups, and ends with the pod.
 */
export const keepCertificates = ({
  folder,
  qemuFolder,
  give,
  reload,
  atStart = false,
}: CertificateFiles): string => `umask 0077
give() {
  # What cannot be written in full takes nobody's place.
  mkdir -p "\${2%/*}" && cat "${folder}/$1" > "$2.new" && chmod "$3" "$2.new" || return 1
  if [ "$3" = 440 ]; then chown 0:42436 "$2.new" || return 1; fi
  mv "$2.new" "$2"
}
give_certificates() {
${give}  chmod 755 ${qemuFolder.slice(0, qemuFolder.lastIndexOf('/'))} ${qemuFolder}
}
given() { cat ${folder}/${authorityKey} ${folder}/tls.crt; }
last=${atStart ? '' : '$(given)'}
give_certificates
while sleep 30; do
  now=$(given) || continue
  if [ "$now" = "$last" ]; then continue; fi
  give_certificates || continue
  if ${reload}; then last=$now; fi
done &
umask 0022
`;
