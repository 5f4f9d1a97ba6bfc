; Inno Setup 6: an installer of the frozen folder for Windows. NOT TESTED: written by the documentation, never built.
;
;   py -3.11 -m venv build\env
;   build\env\Scripts\pip install ".[bundle]"
;   build\env\Scripts\pyinstaller --distpath dist installer\frozen\plaidwork.spec
;   build\env\Scripts\python installer\contents.py --licences dist\plaidwork\LICENCES.txt --sbom dist\plaidwork\sbom.cdx.json
;   dist\plaidwork\plaidwork.exe --smoke %TEMP%\smoke
;   iscc /DVersion=0.1.0 installer\windows\plaidwork.iss
;
; The result is not signed; Windows will say so when it is started.

#ifndef Version
  #error Give the version: iscc /DVersion=... (plaidwork --version tells it)
#endif

[Setup]
AppId=Plaidwork
AppName=Plaidwork
AppVersion={#Version}
AppPublisher=The Plaidwork developers
LicenseFile=..\..\LICENSE
DefaultDirName={autopf}\Plaidwork
DefaultGroupName=Plaidwork
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
Compression=lzma2
SolidCompression=yes
OutputDir=..\..\dist
OutputBaseFilename=plaidwork-{#Version}-windows-x86_64

[Files]
Source: "..\..\dist\plaidwork\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Plaidwork"; Filename: "{app}\plaidwork.exe"

[Registry]
Root: HKA; Subkey: "Software\Classes\.plaidwork"; ValueType: string; ValueData: "Plaidwork.Session"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Plaidwork.Session"; ValueType: string; ValueData: "Plaidwork session"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Plaidwork.Session\shell\open\command"; ValueType: string; ValueData: """{app}\plaidwork.exe"" ""%1"""
