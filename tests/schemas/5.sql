BEGIN TRANSACTION;
CREATE TABLE autosaves (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    base_version INTEGER NOT NULL REFERENCES versions (id),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item, base_version)
);
INSERT INTO "autosaves" VALUES('RE',4,4,'{"steps": ["half a sent"]}','2026-11-22T13:03:00.000+00:00');
CREATE TABLE barred (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
INSERT INTO "barred" VALUES('AU',7);
CREATE TABLE blind_assignments (
    token TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    scorer TEXT NOT NULL REFERENCES people (initials),
    kind TEXT NOT NULL CHECK (kind IN ('scores', 'pair')),
    place INTEGER NOT NULL,
    -- The one to score, or the left one of a pair.
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    spectrum TEXT REFERENCES spectra (sha256),
    repeat_of TEXT REFERENCES blind_assignments (token),
    gold INTEGER NOT NULL,
    UNIQUE (session, scorer, place),
    CHECK ((kind = 'pair') = (on_the_right IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO "blind_assignments" VALUES('-qGOlCtS3oCQ9KBDhNnViUx4FMpLEXmXO6Rf1EKjIKk',3,'RE','scores',2,5,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('1HdsN3v0Gvn9zRFRFXLNmEm6Xbes0PfWpmmrabqZYmI',3,'AU','scores',3,5,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('3cEv-WhWDF7vOxz8uNywj6esellVIlChWByrrJbv-P4',3,'AU','pair',5,5,6,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('4Njq3PvW1089lgfI1lgO9mlMPoiVyQOOeoe1CLRD--w',1,'RE','scores',3,6,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('5QxC7n3n5pw64RInP6rZSzzyPFY1OvyQ7eJHsLApIIM',2,'AU','scores',2,3,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('5oPxFq3T0arco45hDN5idDmgbmoJCQeoPnG0KRR80K8',3,'AU','scores',4,4,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('9aKDkJktoIkSw99xt52qrqCjofCRASDO8d4Prb_XGqw',3,'AU','pair',6,4,3,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('BQ5TPsDP8kH3laRJmj71cXNvLkRGpSyxdLgL6ULps5A',2,'RE','scores',2,5,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('BdG6g0mXwEcmhTVI3xbuuiHNRCk-mBhLi1SztFcJA3M',3,'RE','scores',1,4,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('CAAPY4kLsPEzZQfsGWw8lIhptG-iFyHAS0Nf9Sb2lEw',1,'AU','scores',4,4,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('CxWotJfIh-yp6izpR4EOo6lxqbGSOye_lRGlPR-8Wpk',2,'AU','scores',4,4,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('E5BG6u1nocflQqhOT74ERBLz97nVj0uJ1Nr39546LXo',1,'RE','scores',4,3,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('FM248a4B1vVVq1IHhqF-zH1RLF3hr88v-XlQZf8QCko',1,'RE','pair',5,6,5,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('G-r0QKJeHfdc-x8LO-YKIhS3HfUATlBOjntBOPK1BFI',2,'RE','scores',4,3,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('K1Dq-n-XQxlhVizT_8PWcnzrZFk3Gx3wxjhEXxJP08o',2,'RE','scores',3,6,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('L4iM-SEQmFo9Wg8Wqw0gvLwIUZ0o_kZT61mOBBFzaa0',3,'AU','scores',1,6,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('LZ9bDvo0UdT7MfH0XGtZDurhDxccZlq-zUHjBx6EgU8',2,'RE','pair',5,6,5,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('NLbsIkIP_KtGOsokK92Ul3tyi2DpKtk--KB0iH2-dVw',3,'RE','pair',6,3,4,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('OYCVgLwl4MUI_4mbpyIAvWEQ9hWKjVesa49h7wDtDmk',3,'RE','pair',5,6,5,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('P8pDn5WRlw2GaCiA3oGCQDgyL1oEWINCjmCngJjsn2w',2,'AU','scores',1,6,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('QwNWIzGD5Mel9B8nlYIYz72FwP5fdYwuLg_JtWKU_HU',1,'RE','scores',1,4,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('SH-6DJxoioagdanM1NxMeIlnYJo6-fSE-SwhxnRTZ_E',2,'AU','scores',3,5,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('VLAhODanI2U4QbcbPgwU4YKP4OzUNfv_TqDeIqVMr8c',1,'RE','pair',6,3,4,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('XM0YPaEPwF9uC054z1vXyt1Jc3isVWSejbn9KSoKMSA',1,'RE','scores',2,5,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('XM7c26hYrohYFdkgRVmHCVkHxxuu7XloC93FtZMURwc',2,'AU','pair',6,4,3,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('XPJNsZ3KEI9YVvy5rm1paUI4aZecXiNlW-wZpScNSB8',2,'RE','scores',1,4,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('_SDdojrXJekTYgTbXOtX_ivnq3Fuk4FHo-2wWuLskg8',2,'RE','pair',6,3,4,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('doN_BX8fe-o7O48y3GHs5nk_WzYIA8dLFSqK1gtduCg',1,'AU','scores',1,6,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('h1olSs_s3IDaVgTqTNtnXI7Jci-T7u23be8-AmSGhxE',1,'AU','pair',6,4,3,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('hlWa6Z30bptLK_PGBDikfWmtYKxdVbIxwZcbGs_87xY',3,'AU','scores',2,3,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('jnfemF8OmrVX4rx5DYDpvnkEUWxS8h4t1SOjXV81sj0',2,'AU','pair',5,5,6,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('n6zto_53yFWsrHqUOkUzPT8AWO98vOF14AwsYAaPvgc',1,'AU','scores',2,3,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('ntFtQIJ3tB_Gj8F7NF8rU3aShvWav5hsfKVlM8YHN0E',3,'RE','scores',4,3,NULL,'e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362',NULL,0);
INSERT INTO "blind_assignments" VALUES('qt3w2b0SZ543_q2nY6E8a5rNy55vPqIFApTjIk3we-I',1,'AU','scores',3,5,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('vGiJ1M79D4jFefs0TfoGdbJWiI46GSn3blQa6cduGfk',3,'RE','scores',3,6,NULL,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
INSERT INTO "blind_assignments" VALUES('w8BzMy30DurXafYbABPZ-AbQRhZ2A4DjphJbLOBHjRA',1,'AU','pair',5,5,6,'fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127',NULL,0);
CREATE TABLE blind_judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    judge TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    -- NULL: nothing that can be read as one.
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
    reasoning TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    said TEXT NOT NULL CHECK (json_valid(said)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    cost REAL,
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_judgements" VALUES(1,'63e801834b3f4cddbfd3b750085fbcf5',1,'judge-70b',3,NULL,'{"coherence": 3, "consistency": 4, "comment": "Sound.", "wrong_steps": []}','First the lines.','{"temperature": 0.0}','["{...}"]','{"requests": 100, "prompt": 20, "cached": 0, "completion": 0}',0.0012,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "blind_preferences" VALUES(1,'ce6ad0bab84f40ad999cfece9faf5a47','FM248a4B1vVVq1IHhqF-zH1RLF3hr88v-XlQZf8QCko','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(2,'fbd62b50c0ee4b08bc434900de2e1ad0','VLAhODanI2U4QbcbPgwU4YKP4OzUNfv_TqDeIqVMr8c','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(3,'c4a4f235a30c43a3b65388032baed476','LZ9bDvo0UdT7MfH0XGtZDurhDxccZlq-zUHjBx6EgU8','left','','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(4,'41254d8dda454af79a5f083c4195e168','_SDdojrXJekTYgTbXOtX_ivnq3Fuk4FHo-2wWuLskg8','left','','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_scores (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    -- NULL: cannot tell from these data.
    coherence INTEGER CHECK (coherence BETWEEN 0 AND 5),
    consistency INTEGER CHECK (consistency BETWEEN 0 AND 5),
    comment TEXT NOT NULL,
    wrong_steps TEXT NOT NULL CHECK (json_valid(wrong_steps)),
    at TEXT NOT NULL
);
INSERT INTO "blind_scores" VALUES(1,'7c151f9b9b0f424e84b73d10f7b63528','QwNWIzGD5Mel9B8nlYIYz72FwP5fdYwuLg_JtWKU_HU',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(2,'c74f1b07fb4e4f5ea66d6da9fefea981','XM0YPaEPwF9uC054z1vXyt1Jc3isVWSejbn9KSoKMSA',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(3,'d9e014f78e8b4604ac024a66dc9fb346','4Njq3PvW1089lgfI1lgO9mlMPoiVyQOOeoe1CLRD--w',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(4,'f3b800460d88457ba2f7a565f2f155cb','E5BG6u1nocflQqhOT74ERBLz97nVj0uJ1Nr39546LXo',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(5,'465827e8531f4c3398776057b5525b75','XPJNsZ3KEI9YVvy5rm1paUI4aZecXiNlW-wZpScNSB8',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(6,'40bf1239a19f4fcebc0712486a94f0d3','BQ5TPsDP8kH3laRJmj71cXNvLkRGpSyxdLgL6ULps5A',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(7,'f5ca2ab85a9c4fd3ab4543418b1a78c5','K1Dq-n-XQxlhVizT_8PWcnzrZFk3Gx3wxjhEXxJP08o',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(8,'a42a8b5b197145839ebd9350732ad665','G-r0QKJeHfdc-x8LO-YKIhS3HfUATlBOjntBOPK1BFI',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_sessions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    -- What the tasks ask, in the words of the day: task files may change while people score.
    questions TEXT NOT NULL CHECK (json_valid(questions)),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_sessions" VALUES(1,'0cc8d8277cb2459babbd40690bcd1303','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(2,'370414a0574c451b9d146041b9d3b695','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(3,'8f8cdcddaa6f42919b161b8cc73611b7','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
CREATE TABLE blind_states (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    rubric TEXT CHECK (rubric IS NULL OR json_valid(rubric)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    UNIQUE (session, state),
    CHECK ((state = 'open') = (rubric IS NOT NULL))
);
INSERT INTO "blind_states" VALUES(1,'0feecb5ffdb94810bc783d834fbc98c1',1,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_states" VALUES(2,'dabc8fcaa1c34273820166892f0d4f2b',2,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_states" VALUES(3,'b76e0b6764fb41c18062f0faf3c0e510',1,'closed',NULL,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    verb TEXT NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    withdraws INTEGER UNIQUE REFERENCES decisions (id),
    rules INTEGER NOT NULL REFERENCES settings (id),
    at TEXT NOT NULL,
    CHECK ((verb = 'undo') = (withdraws IS NOT NULL))
);
INSERT INTO "decisions" VALUES(1,'65f1fef4f9cd43108f8c71bfe931b969',1,1,'RE','screening','keep','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(2,'93cf9a3ca6e241b1aa22538006ecf7b2',1,1,'RE','revision','submit','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(3,'2d4ce004d57f41c6b41cb8ed198315fc',1,1,'AU','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(4,'bc86d5ac67b846b1a20e546ea66526c9',1,1,'AX','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(5,'f496cb22da154e61ac7a8e7529d6e143',1,1,'VO','vote','approve','','Fine.
Two lines.',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(6,'6875ff3d57c447d2ab1a211a29704b30',1,1,'VO','vote','undo','','',5,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(7,'837ef575d0754c4bbd330d47e73d57c4',1,1,'VO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(8,'94d97daae7ea4c709bb90a34a6af8797',1,1,'ZO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(9,'e9b87bfb9fd345fe9694e7ac6b9a01ff',2,2,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(10,'c86e4991f0f7416abb827435c57d8de8',2,2,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(11,'7cf6d58953404dbdaffdfa232ae2bd52',2,2,'AU','audit','return','','look again',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(12,'34c42e08ce6c465ba4eb4e60ade9a7e0',7,7,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(13,'21e46f2557234d9eb4da7c0461caa868',7,7,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(14,'f0a1f9a6c7ea454ca57de610d8c45669',7,7,'AU','audit','pass','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(15,'e7c199b7296249b79a771aa424cb9cb8',9,9,'RE','screening','reject','bad_data','',NULL,2,'2026-11-22T12:03:00.000+00:00');
CREATE TABLE exports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    manifest TEXT NOT NULL CHECK (json_valid(manifest)),
    at TEXT NOT NULL
);
INSERT INTO "exports" VALUES(1,'first','CO','{"items": [1], "note": "größer"}','2026-11-22T12:03:00.000+00:00');
CREATE TABLE grids (
    sha256 TEXT PRIMARY KEY,
    pixels INTEGER NOT NULL,
    wavelength_type TEXT NOT NULL CHECK (wavelength_type IN ('<f4', '<f8')),
    wavelength BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "grids" VALUES('a1ff90e4c5973192c78ce8dc45cc806197c7e1228bf4d7731f52dd1c8fc89d71',300,'<f8',X'789CEDC1F923138A03007091B635B2082B34562CD716B956865CB9DAD7DA2314568496B96FB12472342D5E8BB91EB949EEFB483452E4C89D63B2B450B926E69BF723F5DE0FDF3FE0FBF9F06884E87AF79B66CFBD0ED868767775548DBB1D0AB812FC9100255051C36235053C2606D9610F11CEAA3486A93E4DA4F3F4CD8475A7B003B263865B11598C70E6126CA433119387D2CC087A0C5A5ADBE8EAA656DD8ECA4E78FA0254D082BC49A438B526F54594DB44A2FCA31AF3F4A623065DDFCE8CE54121AC349906335A7B018CA23FD45425CF24264AEA9C28E583464B84720DB6AB69E21B9B05F6005E196AB1F4E8F4E32CF63BF5F0199272F096209BDD389ADE376DCA8E95BAAE8B6231F05F8C360D9351AC81AF9B723D2EBABACBE66142B55A09C33ADA09A862D9EB8A4E27558E92D03A6AB60D7733446FE1440F39C777095C294F59A7E35D726187B30F5BD974A94C40856558A15C32A07E332CC98028149DB6765A8900AD101A7C3E626918F10E0736D9E1F97CF0BFD0DB124DC084372AAA069F2AECAADA9B20DE53F941F63D155E0B8F49875B1D5EBDC519EDB70E14BFCE0BF73FAB3D25167C4EE3CBFDC5E7701C84E396FA4417EF23C7E49F1F8109AC2091DE49669EFB142FB07A0E8C8FCF9D927F6D623A11222646B05BCD09162E8173F047BA6AE64FF2323770E38464D9CCA478F137E6173315F759538D4DF32A008F1292F3251ADBA6B463B9B8593A3FCEAE30ACFF5AB970A11F967BCAD7A77E3AD21AD67AB639977C94CC8FB5B43FF5BA5B0E6F16275D1688EF9554CA59362EFAF10576FC866BB20FD9B63E30F9E23EFB8B60D9082255EC4FF85577A14C7129E0E78447B67090105CF64778BE2F4F4274140169195C49F4878AE4261BA4AAE8DBC3E141B94FCA1888ACBB7FD9A6B16DD3818F86643C3C29CBF736189810BF1D9E93673817F8C47CC40F3AA0B2E6547AF84F97AF79E5487AA0118B26FB57D757A66AA24A4B47F485AEBB981B516F497E533BEFA734309051762F336E1032FE3E7BD9777AD517C1F46DA4739A661DCF38FF14AE8768BBB6DFFFAAF3E2557615E11052AB605F4F3AA0481EE54EF77FF5C7DA9D11661C23F1FB7CEC829227B30A4E1CAEBC2CED5DEDC81ECCFD666291CDD9F6122997507CD12E3BF1C9E298AB25F74F1C093935E8C6035AD321EEFF6B0C5FDF265B0CB3568AB1A6286AB67E28BD0A95280052532943F3FA1EDB9179107F2A02247804301675380E589C26A4E7B7A5E826D5DCD56130A323C837EB4715F9C4C5B2FAE4455A08DA1913560195F1F7CF1961812AD40D43078D6EE9DCCA1E8187211C55A7360A38FA628D149308BFFD7D5362AA2F3A39DFC6CA7287475D5DE075E089F1A24C86F2CCD275B3EA5283BBC16A2F5171333A55D8A3B26475AB257E072098A47E4B0C332FF951DF6041DF52A2E4A0B6D939715669A01952E142FC4E31ADD30466B5BC1D16C627DE06DE4AF9CA3B19739054BB227785BE603D971E5F756266C519136DF2C0AEA9FE6A4965088898DBD1D73F30BE8A20F335D76E3D24BF4F1EA48E56A170272BF81132DB1D1118BEC9C1E5F36FD39AD4451C4F103105D51E9302C0B17844BD053BCDCBE32974ECFB4D6C711C879BB37D88F5001232A24A132AF4201669C978A2486A548A664A5BC343ECBE9A60ABCBF13BCD83161AE9094774C44B4018BCADDD8DFB6FF456BF1BFE5418129CB18B0DC54CBA2D068A8D74FDF035B9A75943EFB53348BC1886C0832C91257D4F153C832C56FDC7112E19C3622E3DF81D1EA08C79543F32F55891F9CF365A987F780A63FF1F35F2CF8DBF1507D998619D295DA28D6B9A91A39A99871F403235462335392DD45B383DB4B6A9E39DE219985B2394BC4C5ABD07EBF0555E694B25935C89C189B52C9873A5A0CF4787397FE17A7785D5AEFCC4D8F8E4F2217EBDFBE35AD9503AE2C50DB1C134EF4B7A685D4B8FE477C2D79A65E91285860B998ECA80AFCCD9EFE033AE853FAC5AD4EBCDBFD02CC5177B5B9A3A99406D721F325534437D9CF29FE3DBECB9257E45420EC7A6D3F8BD97C4706690A3F5556F5AB720E1A55AB5F1FC93CB08C0C6C601396BDA27E35AAD6EF7E3CCEA9484A4A27ED0A512F124E9560F142F6B82B975C2B1047CFB67127AA539252636BD9D6BDC0F327BCC367E26F5E4583E66321ACD69A6B89A6B9D56C15CF2A6F7822FE5EC7CFE794441CF9A14492FEB9C5C03C3D196AEE1B4671D1F56C1F0B3978877E915DDB35C90281C79F6029EE01E1C9598515CD7D13FB5F0835F18A68436C6133C4263684FCB5ADE8CCDAFF142A414D117AC9CBCC994D4C23AC6FB8FCB3B872415CF9A5C76F18B4CCC2A6BED9D5CDC061F93479BD8B80646D3F2AA5F0DB1D6F94565D58DAC5C02A29FE4D7758DB1B7C092CA18ACA3D7DDA49C6AC6289B2B701C751E7F2320865ED2D2F7711D70544907E71410935ADA36F8695340FA8CB1ADFB9DA4FC86DED97590948A912D29E27151CBC03C1772128D750A7A9055FB96C901CB68585C0BA464D7F5CE6D41E430F89B7768CFDAC79781C7D52D9C42130BDB46BF01601A5897705A29636A0370445A49CB08E7400C8CA4A615D6BC7CF781CDE1834829681AE21CDC83A3934A4A9EED2ADDF57C57D9BF28FFA78A7FAAFC5DD56FAA7F53F3ABDA5FD4FDA27EAF86BD1AF768DAA37957CBAED65D2FFE45DB1E7AFFF73FFB1B12BC8B4A');
CREATE TABLE inspections (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    -- Redshift in the medium of the spectrum; NULL: none given.
    z REAL CHECK (z > -1),
    quality INTEGER CHECK (quality BETWEEN 0 AND 4),
    issues TEXT NOT NULL,
    spectype TEXT NOT NULL CHECK (spectype IN ('', 'STAR', 'GALAXY', 'QSO')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "inspections" VALUES(1,'fedaeef49211449f9a4917c42a157858',8,'RE',0.0012,3,'R','','Blue shift.','2026-11-22T13:03:00.000+00:00');
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spectrum TEXT REFERENCES spectra (sha256),
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    drafter_kind TEXT NOT NULL,
    drafter_name TEXT NOT NULL,
    label TEXT CHECK (label IN ('YES', 'NO')),
    simulated INTEGER NOT NULL,
    batch TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    added_at TEXT NOT NULL
);
INSERT INTO "items" VALUES(1,'sha256:33d0a1b5fc449b1d0116e96c4231c15c54cb35cc0a5d283d29d4120482797b51','8db5365259d30ac0bbe035ad7ad765bc34513dcc2ff74a7f0ab28452d2dbe1c8','spec-0000.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(2,'sha256:3347fd26bf5a05dd6fd7084e109a1e20002d0e65641f7dea28fe40f2b582e916','8db5365259d30ac0bbe035ad7ad765bc34513dcc2ff74a7f0ab28452d2dbe1c8','spec-0000.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(3,'sha256:5600d113ca3fa49acd16428339cb06c728d63767a98f5e24e7c2f973673bfaac','e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362','spec-0001.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(4,'sha256:7b4f501a647ef60bcb162de4083e7daf250a9bef42f8a27c16df1d3e4daeda2f','e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362','spec-0001.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(5,'sha256:fbd8fbbc216a133853000ec59337ff57f1d62cb06f2123f7d396df71f46869a4','fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127','spec-0002.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(6,'sha256:30244aa604e7734702df5446526f9edb666368cf007dc9ffb5e2701a465ab0b9','fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127','spec-0002.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(7,'sha256:d5448a3805222a197bc09ecaf83b1445141fcd381fa5b3ff0f95e6d7a76dc524','9e4f6d879c46d52a99b48ae90cbc8eda735cc6d3641278ecec72a52138472bad','spec-0003.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(8,'sha256:c982158765a15fe2aca63bd0d511e8ea084ad29dd4a4c5c911803245efdf4745','9e4f6d879c46d52a99b48ae90cbc8eda735cc6d3641278ecec72a52138472bad','spec-0003.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(9,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,'gone.fits','cv','baseline','rule 1',NULL,0,'','',NULL,'2026-11-21T12:00:00.000+00:00');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','items_text','items_text',0,'CREATE VIRTUAL TABLE items_text USING fts5 (text, content='''', tokenize=''trigram'')');
CREATE TABLE 'items_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "items_text_config" VALUES('version',4);
CREATE TABLE 'items_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "items_text_data" VALUES(1,X'09812F');
INSERT INTO "items_text_data" VALUES(10,X'000000000109090009010101020101030101040101050101060101070101080101090101');
INSERT INTO "items_text_data" VALUES(137438953473,X'000000A004300A313401021001032D303001020601032E666901020B0103302E6601020A0202302E0102090301300104070301033132330102140202343801021101033233340102150103333435010216010334383101021201033831320102130103632D30010205010365632D010204010366697401020C010369747301020D01037065630102030103730A3101020F02027065010202010374730A01020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(274877906945,X'000000A004300A313402021001032D303002020601032E666902020B0103302E6602020A0202302E0202090301300204070301033132330202140202343802021101033233340202150103333435020216010334383102021201033831320202130103632D30020205010365632D020204010366697402020C010369747302020D01037065630202030103730A3102020F02027065020202010374730A02020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(412316860417,X'000000A604300A313403021001032D303003020601032E666903020B01033030300302070301310302080202312E0302090103312E6603020A020232330302140202343803021101033233340302150103333435030216010334383103021201033831320302130103632D30030205010365632D030204010366697403020C010369747303020D01037065630302030103730A3103020F02027065030202010374730A03020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(549755813889,X'000000A604300A313404021001032D303004020601032E666904020B01033030300402070301310402080202312E0402090103312E6604020A020232330402140202343804021101033233340402150103333435040216010334383104021201033831320402130103632D30040205010365632D040204010366697404020C010369747304020D01037065630402030103730A3104020F02027065040202010374730A04020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(687194767361,X'000000A604300A313405021001032D303005020601032E666905020B01033030300502070301320502080202322E0502090103313233050214020234380502110103322E6605020A020233340502150103333435050216010334383105021201033831320502130103632D30050205010365632D050204010366697405020C010369747305020D01037065630502030103730A3105020F02027065050202010374730A05020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(824633720833,X'000000A604300A313406021001032D303006020601032E666906020B01033030300602070301320602080202322E0602090103313233060214020234380602110103322E6606020A020233340602150103333435060216010334383106021201033831320602130103632D30060205010365632D060204010366697406020C010369747306020D01037065630602030103730A3106020F02027065060202010374730A06020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(962072674305,X'000000A604300A313407021001032D303007020601032E666907020B01033030300702070301330702080202332E07020901033132330702140202343807021101033233340702150103332E6607020A02023435070216010334383107021201033831320702130103632D30070205010365632D070204010366697407020C010369747307020D01037065630702030103730A3107020F02027065070202010374730A07020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1099511627777,X'000000A604300A313408021001032D303008020601032E666908020B01033030300802070301330802080202332E08020901033132330802140202343808021101033233340802150103332E6608020A02023435080216010334383108021201033831320802130103632D30080205010365632D080204010366697408020C010369747308020D01037065630802030103730A3108020F02027065080202010374730A08020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1236950581249,X'0000003C04302E66690902060103652E6609020501036669740902070103676F6E090202010369747309020801036E652E09020401036F6E6509020304080808080808');
CREATE TABLE 'items_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO "items_text_docsize" VALUES(1,X'15');
INSERT INTO "items_text_docsize" VALUES(2,X'15');
INSERT INTO "items_text_docsize" VALUES(3,X'15');
INSERT INTO "items_text_docsize" VALUES(4,X'15');
INSERT INTO "items_text_docsize" VALUES(5,X'15');
INSERT INTO "items_text_docsize" VALUES(6,X'15');
INSERT INTO "items_text_docsize" VALUES(7,X'15');
INSERT INTO "items_text_docsize" VALUES(8,X'15');
INSERT INTO "items_text_docsize" VALUES(9,X'07');
CREATE TABLE 'items_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO "items_text_idx" VALUES(1,X'',2);
INSERT INTO "items_text_idx" VALUES(2,X'',2);
INSERT INTO "items_text_idx" VALUES(3,X'',2);
INSERT INTO "items_text_idx" VALUES(4,X'',2);
INSERT INTO "items_text_idx" VALUES(5,X'',2);
INSERT INTO "items_text_idx" VALUES(6,X'',2);
INSERT INTO "items_text_idx" VALUES(7,X'',2);
INSERT INTO "items_text_idx" VALUES(8,X'',2);
INSERT INTO "items_text_idx" VALUES(9,X'',2);
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    renewed_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended TEXT CHECK (ended IN ('decided', 'released', 'round over', 'expired', 'deactivated'))
);
INSERT INTO "leases" VALUES(1,'rEduXmrR6x45lkwuZsFWKHJw-j4DWC_vCQruaAOrwMw',1,'RE','screening','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(2,'rWWWgNapKBqR37TMa6Dc8ojM4t27EKPNjTzEofeN4kw',1,'RE','revision','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(3,'eB-xFk5BraPt51FK-s6RGA1wyv2Qf4ql-eeyUr3leqs',1,'AU','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(4,'U82FjbtSPPx7BJQBjgRnDi8FM3rJEvBtk3uAbZRScB0',1,'AX','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(5,'Bf4y--cWsrZX2Z6aVKrivzEoIE1WQ_WXxK-1GsOvKx0',1,'VO','vote','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(6,'oQrpI9r6QwWitzxpqDmgXBQ3EBQxTvAwpk-cjR6-gGk',1,'VO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(7,'AkPafl871foz0f_qDUopvjToHyA5vstlmeRQ8xE5aeU',1,'ZO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(8,'CdW9xkFObScrruyN6hN5iY9l-sxfbxCSKBtMoc01_fk',2,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(9,'wR9mcpSzTUGVu66TeFRQe72AxsLiLbeNKp9nmzmUaNw',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(10,'DeNq2ZbZp8LhlsAvSw6jP6HezhdchHOWBPBxkeRSaY8',2,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(11,'_XoebiT8wI2fDPZlbxvVfW-1WnUKHiBGFmrdU05_EsI',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(12,'sNKZ2N68y_-WmZbsFYw9HYor59kPBqWzSaJwfjhwMmg',7,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(13,'0bnHxZmcCmBBNslLxe2cxsHFc0k8TRvIDpRiTRkp2nw',7,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(14,'2o_OZarTOrMjV-HvTn9zxmvvPiXZrhO45MORX8u9sfo',7,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(15,'4-kfegVhCopydxyxYQ_aBJ4KW8VO5PQ1bapWYF5Su5k',9,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(16,'A6CtVEjFNObjMB0TeoR_qXLjWsyYuWpSepT1pezg9Js',3,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','released');
INSERT INTO "leases" VALUES(17,'ZDoUTvUhW6yOk7ICVLL5PrVLxdiE_aX7QuwgIy9umZs',7,'AX','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(18,'MvirgTUfROLHCWUrvKbplDP6jBmXtbuvGm1-5vLNxa4',4,'VO','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(19,'KuLRJNpixsfm3OwSuQnksvA87dpobRJBQYtDoYcfcfI',4,'RE','screening','2026-11-22T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00','2026-11-22T13:18:00.000+00:00',NULL);
CREATE TABLE log (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    -- NULL: whoever holds the file itself, or somebody who is not signed in.
    person TEXT REFERENCES people (initials),
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "log" VALUES(1,'2026-11-21T12:00:00.000+00:00',NULL,'log begun','settings','{"count":1,"facts":{"settings":[1,1,1,"6918769a4e86acba10972393898aa33aee16a96da5aaddfb54f9cac1a6b75810"]}}','0000000000000000000000000000000000000000000000000000000000000000','26407911a41b11e10e1578a03a6dafeb7c5896acb750597e135fded756a198f4');
INSERT INTO "log" VALUES(2,'2026-11-21T12:00:00.000+00:00',NULL,'person added','RE','{"people":{"RE":"4ffc31bd6030bebde8466ad26b5ecbb6adab970dc19f71b2ab24a9e7c46c6424"},"roles":["reviewer"]}','26407911a41b11e10e1578a03a6dafeb7c5896acb750597e135fded756a198f4','c9b200a9369e0da64ab07178dece5d9ffaf5c830bd56d2b184339462e75a1475');
INSERT INTO "log" VALUES(3,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AU','{"people":{"AU":"ba41626517611142e220083da52d29b95b8f219fd29923733092bbd395ba1442"},"roles":["auditor"]}','c9b200a9369e0da64ab07178dece5d9ffaf5c830bd56d2b184339462e75a1475','77cc202b7f973d33b7c96a018b0a92bb53b476c8ced5640c6db9fe7f776b37d6');
INSERT INTO "log" VALUES(4,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AX','{"people":{"AX":"94324b0b0cedfdc3eadb0c9414f9c13249be615ad7e39e3fae995d07d9fb9bf6"},"roles":["auditor"]}','77cc202b7f973d33b7c96a018b0a92bb53b476c8ced5640c6db9fe7f776b37d6','3421845180a7566a77673c342b3332df6250f4635e6ed4ee9fc1ec996c649cdc');
INSERT INTO "log" VALUES(5,'2026-11-21T12:00:00.000+00:00',NULL,'person added','VO','{"people":{"VO":"4a4699490db6743b872754a1253a2a58ce22b0339bb7f3deb3bf9967ba154c40"},"roles":["reviewer"]}','3421845180a7566a77673c342b3332df6250f4635e6ed4ee9fc1ec996c649cdc','03762d9c1192ef63415268762773e1e5a4d8885e4104e4ab1fe069d72570d317');
INSERT INTO "log" VALUES(6,'2026-11-21T12:00:00.000+00:00',NULL,'person added','CO','{"people":{"CO":"dd864c1b73198be0ff4b303ddc7870025b6312f0e25267c725c6a95a70b6c979"},"roles":["coordinator"]}','03762d9c1192ef63415268762773e1e5a4d8885e4104e4ab1fe069d72570d317','68e25a120ae299a97241b77801c892dfbc58e16bedfe753b248585ef1ff3ce15');
INSERT INTO "log" VALUES(7,'2026-11-21T12:00:00.000+00:00',NULL,'person added','JU','{"people":{"JU":"a0479ed58460e5069fe62c36dc17a3d60c4cf0b0c98415d591ff3867e6c81b84"},"roles":["auditor"]}','68e25a120ae299a97241b77801c892dfbc58e16bedfe753b248585ef1ff3ce15','add021d093836088512d8a566ad5f1c33d99a16a27bbb59035025978b9f7e99c');
INSERT INTO "log" VALUES(8,'2026-11-21T12:00:00.000+00:00',NULL,'person added','ZO','{"people":{"ZO":"b8f4d2e91a1d5ccc85717d26552ddb75a1e9c424fbcb8930b5c5cffc65fc7084"},"roles":["auditor","reviewer"]}','add021d093836088512d8a566ad5f1c33d99a16a27bbb59035025978b9f7e99c','46053384797add44e1149acf9086e0060d6d96a49254e99ca8db6b94ff745825');
INSERT INTO "log" VALUES(9,'2026-11-21T12:00:00.000+00:00','CO','rules set','rules','{"before":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":2},"facts":{"settings":[2,2,1,"6a1085363c13c03b0bbad93ffed0cc6fc69d7ebac2571fe1df654470e4d00161"]},"rules":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":3}}','46053384797add44e1149acf9086e0060d6d96a49254e99ca8db6b94ff745825','ae7eeb1b89c5e019c25f0da1b723f3337303fe5f0b452dbbf5621df48fa8c3f8');
INSERT INTO "log" VALUES(10,'2026-11-21T12:00:00.000+00:00','CO','setting set','campaign','{"facts":{"settings":[3,3,1,"7026fece3c7ac51c65b625007ad5f8e0b5878fb46f9323153cf39438e1734d44"]}}','ae7eeb1b89c5e019c25f0da1b723f3337303fe5f0b452dbbf5621df48fa8c3f8','627cddf373fd415fadf4bf2d8bacb487681dc51ab943bab54632d685f1e17544');
INSERT INTO "log" VALUES(11,'2026-11-21T12:00:00.000+00:00',NULL,'items added','items 1 to 9','{"count":9,"facts":{"items":[1,9,9,"35bbd733ee54b8749beec8d803b59331b0068da6bece2ecc971ebc1c7b060859"],"versions":[1,9,9,"d2139c40b337af12d3c837e9c6d78d45db03a1a3e5ba20ff65178b40e3239bff"]}}','627cddf373fd415fadf4bf2d8bacb487681dc51ab943bab54632d685f1e17544','67ac023dd9eb2643cffa9c9f3bd3e367e8cfcd8c4c9416467fc03c1804f0f8bf');
INSERT INTO "log" VALUES(12,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[1,1,1,"5646d14a88948ae4c95d7576008f742fe3f0e52b9b1331dca2946848228b2b4e"]},"round":"screening","verb":"keep","version":1}','67ac023dd9eb2643cffa9c9f3bd3e367e8cfcd8c4c9416467fc03c1804f0f8bf','71f954361b53666e2e27953152be18c78fa0c9d33ac58a669b0f7928438f3d0f');
INSERT INTO "log" VALUES(13,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[2,2,1,"1d0c780894da2eb9ae30ede72a2413fb32a7ad601042d07e17131d4fb40e8f88"]},"round":"revision","verb":"submit","version":1}','71f954361b53666e2e27953152be18c78fa0c9d33ac58a669b0f7928438f3d0f','9de259a5a7ae647d55fd4b72f638b976481259675fb5ce27b774b8e94162274b');
INSERT INTO "log" VALUES(14,'2026-11-22T12:00:00.000+00:00','AU','decided','item 1','{"facts":{"decisions":[3,3,1,"41f323488611e241c73c5f1880af7d2ee8325987c78472d9b0e4e64fd909f601"]},"round":"audit","verb":"pass","version":1}','9de259a5a7ae647d55fd4b72f638b976481259675fb5ce27b774b8e94162274b','e0b08a0187ba7038dd4cc882898df8466438ec7d863df445c520efb1802dbf03');
INSERT INTO "log" VALUES(15,'2026-11-22T12:00:00.000+00:00','AX','decided','item 1','{"facts":{"decisions":[4,4,1,"1f5373dca8bd6e83f8bbe41d015f2cd406ec1d117e03f691b5a5126a0e60a7ad"]},"round":"audit","verb":"pass","version":1}','e0b08a0187ba7038dd4cc882898df8466438ec7d863df445c520efb1802dbf03','e93b5075026e151f50650a546337f9e685a43aa4c16cede7c3189208bd10d5cc');
INSERT INTO "log" VALUES(16,'2026-11-22T12:00:00.000+00:00','VO','marked','item 1','{"facts":{"marks":[1,1,1,"cc91a778c159763ecba2ddc3ef55bc688087d435437a1c903c667bb3f91aa23d"]},"mark":"hallucinated feature","step":"s3","version":1}','e93b5075026e151f50650a546337f9e685a43aa4c16cede7c3189208bd10d5cc','09fa564050a2a840cb2e4cf37e9ebc0a45e9141482478780727b0645010daf78');
INSERT INTO "log" VALUES(17,'2026-11-22T12:00:00.000+00:00','VO','verdict committed','item 1','{"facts":{"verdicts":[1,1,1,"5315470dab9b5a6f8b1b4dbf2ea6f2aa2859007a36f97a29eab1e7a76a267e6c"]},"verdict":"cannot tell","version":1}','09fa564050a2a840cb2e4cf37e9ebc0a45e9141482478780727b0645010daf78','9bfbbdd4f632aa9303b55789efd5a6936efb1d09f7f89b01a0e58cf357e71c3d');
INSERT INTO "log" VALUES(18,'2026-11-22T12:00:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[5,5,1,"141bdedf06db33145cd22c0cac402c5e2fee2a54b4c873f504e4be2a810c5107"]},"round":"vote","verb":"approve","version":1}','9bfbbdd4f632aa9303b55789efd5a6936efb1d09f7f89b01a0e58cf357e71c3d','38d30b2a2eb2005606514719e94c0cea3700c7707551e6d3626705df7e5d2cc7');
INSERT INTO "log" VALUES(19,'2026-11-22T12:00:00.000+00:00','VO','undone','item 1','{"facts":{"decisions":[6,6,1,"9d9f38e8b3020d8a4bb2477cb9123da2387afde75161ecade213a3280219a88d"]},"round":"vote","verb":"undo","version":1,"withdraws":5}','38d30b2a2eb2005606514719e94c0cea3700c7707551e6d3626705df7e5d2cc7','23ad4a8096111ba0188426078dd0bfd7f2797b92667b55e0d0209ee2a0975569');
INSERT INTO "log" VALUES(20,'2026-11-22T12:03:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[7,7,1,"018167576da801d65f4cf59a4cb94e931d8f95fc0419afedf3371933f394e487"],"work_times":[1,1,1,"599e532d4b5fbf83482bf4db8963af89d5828c26742c8779ecf76d7612c83945"]},"round":"vote","verb":"approve","version":1}','23ad4a8096111ba0188426078dd0bfd7f2797b92667b55e0d0209ee2a0975569','5109c71204e7254806a04322a286c5af473d0e33a945dfa4aac4c5ae8579a2c9');
INSERT INTO "log" VALUES(21,'2026-11-22T12:03:00.000+00:00','ZO','decided','item 1','{"facts":{"decisions":[8,8,1,"02f97f2da521131d6ed8d50947f3be3f431275d55625011b8bf868f4c0f248b1"]},"round":"vote","verb":"approve","version":1}','5109c71204e7254806a04322a286c5af473d0e33a945dfa4aac4c5ae8579a2c9','640b06fd8ee186f63517be18b69ad161a91e941021dbef417cdeb48f7a9a3447');
INSERT INTO "log" VALUES(22,'2026-11-22T12:03:00.000+00:00','CO','exported','first','{"facts":{"exports":[1,1,1,"aa384363c82d296e8c7af99c87200923b473a4ea4d5ebe282b4b1d50979f5a7f"]}}','640b06fd8ee186f63517be18b69ad161a91e941021dbef417cdeb48f7a9a3447','52642e369ddfba6e6f4147a6d233c6e49c37d1aeda218bc5e011985bc76fe179');
INSERT INTO "log" VALUES(23,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[9,9,1,"593cac4ab9fd67f6610ee8e315c8e41b5d042469629574c8c5505ee5876f3c35"]},"round":"screening","verb":"keep","version":2}','52642e369ddfba6e6f4147a6d233c6e49c37d1aeda218bc5e011985bc76fe179','9132f5333b30dd7520e963f2d77b9d4aa12bb5b45e7b5f7f100a484ba66b227b');
INSERT INTO "log" VALUES(24,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[10,10,1,"0fdd2a7d719da4c034e6112f0e50a39e1624c0aed760f60ac1d21d06a8fc696e"]},"round":"revision","verb":"submit","version":2}','9132f5333b30dd7520e963f2d77b9d4aa12bb5b45e7b5f7f100a484ba66b227b','216b1797395205ed4aea8449312845c04f2d42a6de09bbe377f0f135364550c9');
INSERT INTO "log" VALUES(25,'2026-11-22T12:03:00.000+00:00','AU','decided','item 2','{"facts":{"decisions":[11,11,1,"d367af142c79d1a4d0a6e3145e9adf2388d610b09f0231bc5396980900a4e364"]},"round":"audit","verb":"return","version":2}','216b1797395205ed4aea8449312845c04f2d42a6de09bbe377f0f135364550c9','11fa4496f10796713c2588607c66fa0b5410fd0e8af5e395d6822e3ae0fafab9');
INSERT INTO "log" VALUES(26,'2026-11-22T12:03:00.000+00:00','RE','version saved','item 2','{"facts":{"versions":[10,10,1,"a679767fcdcf16191b0c039dd20a2014ad96af80770bb920d393f260a81f22f2"]},"number":2}','11fa4496f10796713c2588607c66fa0b5410fd0e8af5e395d6822e3ae0fafab9','fd2ada0354b236213134785ba77d6676b4377696ae6fe7b6eeee77ca8a353703');
INSERT INTO "log" VALUES(27,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[12,12,1,"792a8984adb236830267e6f229b66c857edcf81963a915f768129f9b5ed39efa"]},"round":"screening","verb":"keep","version":7}','fd2ada0354b236213134785ba77d6676b4377696ae6fe7b6eeee77ca8a353703','6f755c2bc3650a5fa478865e12fe081282b02c8b67f743e45509984ccf7a8ea9');
INSERT INTO "log" VALUES(28,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[13,13,1,"dc5a2a1f59ed0bd813342c43688161c032187d57cd4005d54e045871bb966fb5"]},"round":"revision","verb":"submit","version":7}','6f755c2bc3650a5fa478865e12fe081282b02c8b67f743e45509984ccf7a8ea9','f5656998072192baf11bf54720bf243a4997791eb294bb91ee3597f40aa0d589');
INSERT INTO "log" VALUES(29,'2026-11-22T12:03:00.000+00:00','AU','decided','item 7','{"facts":{"decisions":[14,14,1,"b16881aee3abe8279a63f3c80d4b2f06220f4b2710bf186d8f3edbbc2c954a3a"]},"round":"audit","verb":"pass","version":7}','f5656998072192baf11bf54720bf243a4997791eb294bb91ee3597f40aa0d589','210fc47643a63c8973f2ed5dfaef18ca81e6a9c14229a8f278e5ee8f48710dc4');
INSERT INTO "log" VALUES(30,'2026-11-22T12:03:00.000+00:00','RE','decided','item 9','{"facts":{"decisions":[15,15,1,"2ef0103f9c319027695ce9fb139dbc17c9ffee6809a0f770532dba310879423a"]},"reason":"bad_data","round":"screening","verb":"reject","version":9}','210fc47643a63c8973f2ed5dfaef18ca81e6a9c14229a8f278e5ee8f48710dc4','06130c0fedc621774e6cc9198b0d34e8c33cd500adb888cb3792e07b6a340548');
INSERT INTO "log" VALUES(31,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.1"}','06130c0fedc621774e6cc9198b0d34e8c33cd500adb888cb3792e07b6a340548','a392019e536a6f7b177891518e4b2496b464698202908434bd9b223d392510a4');
INSERT INTO "log" VALUES(32,'2026-11-22T13:03:00.000+00:00','ZO','signed out','ZO','{}','a392019e536a6f7b177891518e4b2496b464698202908434bd9b223d392510a4','cba6e1153f76731a9f60d16e8a502316870b5d32aaec9c08adb645d5bef82f3c');
INSERT INTO "log" VALUES(33,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.2"}','cba6e1153f76731a9f60d16e8a502316870b5d32aaec9c08adb645d5bef82f3c','fed3bb4f9395200918226bcc7231c71655ecd27577f0fc08acdec24ff003774e');
INSERT INTO "log" VALUES(34,'2026-11-22T13:03:00.000+00:00',NULL,'sign-in refused','ZO','{"origin":"10.0.0.3"}','fed3bb4f9395200918226bcc7231c71655ecd27577f0fc08acdec24ff003774e','aedd0a6bcb60401318110c0e83bc564f2af7b5f538d1a7626fe9dc6add829ebd');
INSERT INTO "log" VALUES(35,'2026-11-22T13:03:00.000+00:00','RE','inspected','item 8','{"facts":{"inspections":[1,1,1,"244f1bfe00ecb3563b960f5b7fc12cc853262be6819aa0c3ac10e97036f9882f"]},"number":1}','aedd0a6bcb60401318110c0e83bc564f2af7b5f538d1a7626fe9dc6add829ebd','d5210571f37cb34361d1839cf30e75de2e61f2f3e700a5c1c8667ad4e4623e39');
INSERT INTO "log" VALUES(36,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 1','{"assignments":12,"facts":{"blind_assignments":[1,1,12,"7e98367a3889503f3b58f7ab552c8d608ac77594e0b2b5d73fd6bd454b4f24b5"],"blind_sessions":[1,1,1,"6f7e856b27957af198158419d056136ff9f094529c7c623baca1e5ac3aec6185"]},"scorers":["RE","AU"]}','d5210571f37cb34361d1839cf30e75de2e61f2f3e700a5c1c8667ad4e4623e39','f3d4dddf40dee6070d2f24877164ff0be355ab8c652f0d416a1d8e1d4c504bbf');
INSERT INTO "log" VALUES(37,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 2','{"assignments":12,"facts":{"blind_assignments":[2,2,12,"c9587a40b782f12e7ca1090367548d85caca9c91a42f7490ffb6d6da8379096e"],"blind_sessions":[2,2,1,"295a6fcc7dacc1cb949b814e3fa9601359410e6dc3c49dfd686b3ef59b47b4b9"]},"scorers":["RE","AU"]}','f3d4dddf40dee6070d2f24877164ff0be355ab8c652f0d416a1d8e1d4c504bbf','831938e6923cdf061119a7e3b6c2b9a719924b8a8087c4b7d1c73309b628fdc0');
INSERT INTO "log" VALUES(38,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 3','{"assignments":12,"facts":{"blind_assignments":[3,3,12,"1febed4d3eff49cc0e30987570adf846c094a6dabdfa4d3b3dc332ddaba1c01e"],"blind_sessions":[3,3,1,"d55932506fcd55c9d2a2f9ee54239c60632080c2bf9bdb48be8f18bb861b8ab1"]},"scorers":["RE","AU"]}','831938e6923cdf061119a7e3b6c2b9a719924b8a8087c4b7d1c73309b628fdc0','f313e73e9f6c628799693f35b350e9a47212dd1aec44da7f3e428fb2097a093a');
INSERT INTO "log" VALUES(39,'2026-11-22T13:03:00.000+00:00','CO','blind session opened','session 1','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[1,1,1,"b62f4200e226c6f779cf346aea36747620d36035e0456a53a368a5f28fda6bf4"]}}','f313e73e9f6c628799693f35b350e9a47212dd1aec44da7f3e428fb2097a093a','57e8f0a25c7a2e9d61035d2dad8dd4c58992861d1911970a7f07488746702491');
INSERT INTO "log" VALUES(40,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[1,1,1,"2e888c4292cbfff997cc27151fb7bcd71a6b2dc907067791fb30833e31d5df7d"]},"place":1}','57e8f0a25c7a2e9d61035d2dad8dd4c58992861d1911970a7f07488746702491','2ed2e1681e89d71328e93b62e571cdeb6e1a6da8cf82932f103c3ce87f6de721');
INSERT INTO "log" VALUES(41,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[2,2,1,"83f74e316d8164bc1f90af8ecfe66c86e50ca76042ac9ff661ba47f1bdf9bb42"]},"place":2}','2ed2e1681e89d71328e93b62e571cdeb6e1a6da8cf82932f103c3ce87f6de721','e0e3ee7bba72e111ba886366fd203dd6d3c775b37cdbccc4deaef425875e5080');
INSERT INTO "log" VALUES(42,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[3,3,1,"64d16f716e0e9aaf23d7931a2d55656262eee46018f17b0648d3aadfbbfb82d9"]},"place":3}','e0e3ee7bba72e111ba886366fd203dd6d3c775b37cdbccc4deaef425875e5080','63da348701e33b82f52b5d52f4c87177d6ac3e4eef5dea0848df7596a8f786df');
INSERT INTO "log" VALUES(43,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[4,4,1,"7e2911951de59dc945ab315b6a5bdb1208bbed096fb8b22f0db206412e6a346a"]},"place":4}','63da348701e33b82f52b5d52f4c87177d6ac3e4eef5dea0848df7596a8f786df','0ff10d9b333753e1a59394d275c43f53a11c5402b545bd2d63339982f8471f0e');
INSERT INTO "log" VALUES(44,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[1,1,1,"364e4c2b79c54a365e6d812b45a5f8c949d8bdce9f71cc960c9ca58d94627c16"]},"place":5}','0ff10d9b333753e1a59394d275c43f53a11c5402b545bd2d63339982f8471f0e','f93aac35c5f21c0db2b5608bc4af0164d480c497edf27f86e1efbb5a1a8e3d2b');
INSERT INTO "log" VALUES(45,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[2,2,1,"9dd08255ccd684f414b9bf3fb686f4d0f6587c3e2431b18ef442f13d9b2492e7"]},"place":6}','f93aac35c5f21c0db2b5608bc4af0164d480c497edf27f86e1efbb5a1a8e3d2b','ea86add40fe6dbad753d435cb91217c014d3b207ab411632f43023516fdc37dc');
INSERT INTO "log" VALUES(46,'2026-11-22T13:23:00.000+00:00','CO','blind session opened','session 2','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[2,2,1,"a395118ec9ae998bcffc0c971f1b2298a53f0d374e76256a9179832863abc0c5"]}}','ea86add40fe6dbad753d435cb91217c014d3b207ab411632f43023516fdc37dc','9dbf59aca22834536cdbffefdd0cf122b8fba4e9906b8b46f19b86952fec8934');
INSERT INTO "log" VALUES(47,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[5,5,1,"be5520976338f6586fc770077179334e960293de4b2bc3a1c2fda32e25794023"]},"place":1}','9dbf59aca22834536cdbffefdd0cf122b8fba4e9906b8b46f19b86952fec8934','aae4a14e02c50f300aeb198720872470c7b96ee68b790f5cac85807259530f31');
INSERT INTO "log" VALUES(48,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[6,6,1,"c3cd4a74d6c4e6f7907a18f6a230d86d2719629be6d154349778b35ea761e4b6"]},"place":2}','aae4a14e02c50f300aeb198720872470c7b96ee68b790f5cac85807259530f31','4b47646d06f23d24cc96a3b527c2a1283c09de534e0260b21032b08c62b3d2eb');
INSERT INTO "log" VALUES(49,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[7,7,1,"499cec16478333bc6074a69aa607b08e083b0e5671ff53ee022a69ec53414697"]},"place":3}','4b47646d06f23d24cc96a3b527c2a1283c09de534e0260b21032b08c62b3d2eb','b9790eec4115239dacd4e1080317918cfd7ed3a006ddd37060a8ef53f753cc8a');
INSERT INTO "log" VALUES(50,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[8,8,1,"671a34b9a0e259191b927ba4dc3e51b4ecdbc51a80fdb955bbe36f554e3dcf50"]},"place":4}','b9790eec4115239dacd4e1080317918cfd7ed3a006ddd37060a8ef53f753cc8a','b863a7b1068bbaf7d87a9f79996bfdd63ce0050546103fce867517441bbe7ed7');
INSERT INTO "log" VALUES(51,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[3,3,1,"60431a2dbe7707326b288a3f4e998459fc2fd75c1d4f27c4932df08721142460"]},"place":5}','b863a7b1068bbaf7d87a9f79996bfdd63ce0050546103fce867517441bbe7ed7','ad4bf85193fa05c111f3031fd99401d420fb17911b3130ef88853c52304aa35e');
INSERT INTO "log" VALUES(52,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[4,4,1,"6cc0347a6008ebb1500b8dbc80785ea111385d57a29fa196e0de77640db6d49e"]},"place":6}','ad4bf85193fa05c111f3031fd99401d420fb17911b3130ef88853c52304aa35e','adb3bdde325d1f736d1e7fd35388ca273f25146aa47a7796a359738b17f2e0fe');
INSERT INTO "log" VALUES(53,'2026-11-22T13:43:00.000+00:00','CO','judged blind','session 1','{"facts":{"blind_judgements":[1,1,1,"853f52633b77fb8464f7d42bf38b3c337a88c0c2d28f31a4717d2be02a1fe9d9"]},"judge":"judge-70b"}','adb3bdde325d1f736d1e7fd35388ca273f25146aa47a7796a359738b17f2e0fe','90ccf7c54ca96b4b33465b654081c7a1753ed063ba77ebb5baa8b24382b26e96');
INSERT INTO "log" VALUES(54,'2026-11-22T13:43:00.000+00:00','CO','blind session closed','session 1','{"facts":{"blind_states":[3,3,1,"925c423a6cdfdd1f1819d2ada7acb932c79829c572fb81e824e083cd50da3562"]}}','90ccf7c54ca96b4b33465b654081c7a1753ed063ba77ebb5baa8b24382b26e96','a1ed7d84138d1cccedc38145426d2e7558b1686b249fb6077a26a2892c3bd658');
INSERT INTO "log" VALUES(55,'2026-11-22T13:43:00.000+00:00','CO','deactivated','JU','{"leases ended":0,"people":{"JU":"71fa373889d85396376de35e21d76b0837b7d2a186a1728601858749d2dd90c5"},"sessions ended":0}','a1ed7d84138d1cccedc38145426d2e7558b1686b249fb6077a26a2892c3bd658','4b3cb1fc69204f548f99a19430067b42dc00119560ebb458da82faa8697b0b38');
CREATE TABLE marks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    step TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    mark TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "marks" VALUES(1,'18449dc887cd41b19da2a58a1f798297',1,1,'s3','VO','hallucinated feature','=cmd|''x''!A1 and “quotes”','2026-11-22T12:00:00.000+00:00');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO "migrations" VALUES(1,'first schema','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(2,'blind sessions','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(3,'audit log','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(4,'work times','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(5,'inspections','2026-11-21T12:00:00.000+00:00');
CREATE TABLE people (
    initials TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_valid(roles)),
    password TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "people" VALUES('AU','Dr AU','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('AX','Dr AX','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('CO','Dr CO','["coordinator"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('JU','Dr JU','["auditor"]',NULL,0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('RE','Dr RE','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('VO','Dr VO','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('ZO','Zoë Ångström','["auditor", "reviewer"]','scrypt$15$8$3$d68533d79e1ac58acb5d042e5ebead0f$424859da332cf0d5e9fdeaf01efca6a33924a96f3e9cb26e045d8706eae2685a',1,'2026-11-21T12:00:00.000+00:00');
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
INSERT INTO "pictures" VALUES('72f029cb07a1704fd328e4dc99fd2609374fb8e520f9021f8d3bcc7d761a0296',X'89504E470D0A1A0A0000000D49484452000000030000000208020000001216F14D0000001549444154789C63646068606060606060606280010008BC00847A9A81500000000049454E44AE426082');
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('002529b48837b77b655ed8817e9efb82773bd6f6c5fddfb858021b65e22e693c','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00',NULL);
INSERT INTO "sessions" VALUES('2c58bbe178688c81f15b4700368458a7b696eb87b3ef2886ef65bee67dde3e3e','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00');
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "settings" VALUES(1,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',NULL,'2026-11-24T16:52:05.076+00:00');
INSERT INTO "settings" VALUES(2,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 3}','CO','2026-11-21T12:00:00.000+00:00');
INSERT INTO "settings" VALUES(3,'campaign','{"name": "November", "classes": ["cv"]}','CO','2026-11-21T12:00:00.000+00:00');
CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    initials TEXT NOT NULL,
    origin TEXT NOT NULL,
    ok INTEGER NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "sign_ins" VALUES(1,'ZO','10.0.0.1',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(2,'ZO','10.0.0.2',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(3,'ZO','10.0.0.3',0,'2026-11-22T13:03:00.000+00:00');
CREATE TABLE spectra (
    sha256 TEXT PRIMARY KEY,
    grid TEXT NOT NULL REFERENCES grids (sha256),
    name TEXT NOT NULL,
    survey TEXT NOT NULL,
    medium TEXT NOT NULL CHECK (medium IN ('vacuum', 'air')),
    frame TEXT NOT NULL CHECK (frame IN ('observed', 'rest')),
    flux_unit TEXT NOT NULL,
    redshift REAL,
    ra REAL,
    dec REAL,
    catalogue_class TEXT NOT NULL,
    errors TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    flux_type TEXT NOT NULL CHECK (flux_type IN ('<f4', '<f8')),
    flux BLOB NOT NULL,
    ivar_type TEXT NOT NULL CHECK (ivar_type IN ('<f4', '<f8')),
    ivar BLOB NOT NULL,
    mask BLOB NOT NULL,
    added_at TEXT NOT NULL
);
INSERT INTO "spectra" VALUES('8db5365259d30ac0bbe035ad7ad765bc34513dcc2ff74a7f0ab28452d2dbe1c8','a1ff90e4c5973192c78ce8dc45cc806197c7e1228bf4d7731f52dd1c8fc89d71','spec-0000.fits','LAMOST','vacuum','observed','relative',0.0,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362','a1ff90e4c5973192c78ce8dc45cc806197c7e1228bf4d7731f52dd1c8fc89d71','spec-0001.fits','LAMOST','vacuum','observed','relative',0.01,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127','a1ff90e4c5973192c78ce8dc45cc806197c7e1228bf4d7731f52dd1c8fc89d71','spec-0002.fits','LAMOST','vacuum','observed','relative',0.02,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('9e4f6d879c46d52a99b48ae90cbc8eda735cc6d3641278ecec72a52138472bad','a1ff90e4c5973192c78ce8dc45cc806197c7e1228bf4d7731f52dd1c8fc89d71','spec-0003.fits','LAMOST','vacuum','observed','relative',0.03,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
CREATE TABLE standings (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    number INTEGER NOT NULL,
    "cast" INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    disagreement INTEGER NOT NULL,
    decided_at TEXT,
    task TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    drafter TEXT NOT NULL,
    batch TEXT NOT NULL,
    simulated INTEGER NOT NULL
);
INSERT INTO "standings" VALUES(1,'approved',1,1,0,1,0,'2026-11-22T12:03:00.000+00:00','cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(2,'returned',10,2,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(3,'screening',3,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(4,'screening',4,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(5,'screening',5,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(6,'screening',6,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(7,'audit',7,1,1,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(8,'screening',8,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(9,'rejected',9,1,0,0,0,'2026-11-22T12:03:00.000+00:00','cv','',NULL,'rule 1','',0);
CREATE TABLE tallies (
    state TEXT, task TEXT, survey TEXT, drafter TEXT, batch TEXT, disagreement INTEGER, simulated INTEGER,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (state, task, survey, drafter, batch, disagreement, simulated)
) WITHOUT ROWID;
INSERT INTO "tallies" VALUES('approved','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('rejected','cv','','rule 1','',0,0,1);
INSERT INTO "tallies" VALUES('returned','cv','LAMOST','Spec-o3-7B','november',0,0,1);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','gpt-5','november',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','','rule 1','',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','Spec-o3-7B','november',0,0,3);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','gpt-5','november',0,0,2);
INSERT INTO "tallies" VALUES('vote','cv','LAMOST','gpt-5','november',0,0,0);
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    verdict TEXT NOT NULL CHECK (verdict IN ('YES', 'NO', 'cannot tell')),
    at TEXT NOT NULL,
    UNIQUE (item, person, version)
);
INSERT INTO "verdicts" VALUES(1,1,1,'VO','cannot tell','2026-11-22T12:00:00.000+00:00');
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    parent INTEGER REFERENCES versions (id),
    author TEXT REFERENCES people (initials),
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    -- Last, because SQLite reads through a long column to get at those behind it.
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (item, number)
);
INSERT INTO "versions" VALUES(1,'draft:sha256:33d0a1b5fc449b1d0116e96c4231c15c54cb35cc0a5d283d29d4120482797b51',1,1,'sha256:33d0a1b5fc449b1d0116e96c4231c15c54cb35cc0a5d283d29d4120482797b51',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"8db5365259d30ac0bbe035ad7ad765bc34513dcc2ff74a7f0ab28452d2dbe1c8"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(2,'draft:sha256:3347fd26bf5a05dd6fd7084e109a1e20002d0e65641f7dea28fe40f2b582e916',2,1,'sha256:3347fd26bf5a05dd6fd7084e109a1e20002d0e65641f7dea28fe40f2b582e916',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"8db5365259d30ac0bbe035ad7ad765bc34513dcc2ff74a7f0ab28452d2dbe1c8"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(3,'draft:sha256:5600d113ca3fa49acd16428339cb06c728d63767a98f5e24e7c2f973673bfaac',3,1,'sha256:5600d113ca3fa49acd16428339cb06c728d63767a98f5e24e7c2f973673bfaac',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(4,'draft:sha256:7b4f501a647ef60bcb162de4083e7daf250a9bef42f8a27c16df1d3e4daeda2f',4,1,'sha256:7b4f501a647ef60bcb162de4083e7daf250a9bef42f8a27c16df1d3e4daeda2f',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"e37153facaf0b2dd17f4b4a5774adb2b6ffefa62824db1db98aa344922d96362"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(5,'draft:sha256:fbd8fbbc216a133853000ec59337ff57f1d62cb06f2123f7d396df71f46869a4',5,1,'sha256:fbd8fbbc216a133853000ec59337ff57f1d62cb06f2123f7d396df71f46869a4',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(6,'draft:sha256:30244aa604e7734702df5446526f9edb666368cf007dc9ffb5e2701a465ab0b9',6,1,'sha256:30244aa604e7734702df5446526f9edb666368cf007dc9ffb5e2701a465ab0b9',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"fb61021ae27653deab4fa459ec8eec620a879b1734025d8eff855720445d2127"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(7,'draft:sha256:d5448a3805222a197bc09ecaf83b1445141fcd381fa5b3ff0f95e6d7a76dc524',7,1,'sha256:d5448a3805222a197bc09ecaf83b1445141fcd381fa5b3ff0f95e6d7a76dc524',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"9e4f6d879c46d52a99b48ae90cbc8eda735cc6d3641278ecec72a52138472bad"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(8,'draft:sha256:c982158765a15fe2aca63bd0d511e8ea084ad29dd4a4c5c911803245efdf4745',8,1,'sha256:c982158765a15fe2aca63bd0d511e8ea084ad29dd4a4c5c911803245efdf4745',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"9e4f6d879c46d52a99b48ae90cbc8eda735cc6d3641278ecec72a52138472bad"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(9,'draft:sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',9,1,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"gone.fits","sha256":null},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"baseline","name":"rule 1","settings":{}},"label":null,"label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Only its picture is left."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(10,'aa1e1b8ca86440c889d9d09fb50abf9a',2,2,'sha256:3c977f6b0ea579e080f38ad8e3708118c23c5239246bd33673388212e0490c10',2,'RE','clearer','2026-11-22T12:03:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"8db5365259d30ac0bbe035ad7ad765bc34513dcc2ff74a7f0ab28452d2dbe1c8"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Hα is narrow; the second look says so."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
CREATE TABLE work_times (
    id INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL UNIQUE REFERENCES decisions (id),
    opened_at TEXT NOT NULL,
    -- Seconds from opening the item to the decision, and how many of them the person was active.
    elapsed REAL NOT NULL CHECK (elapsed >= 0),
    active REAL NOT NULL CHECK (active BETWEEN 0 AND elapsed)
);
INSERT INTO "work_times" VALUES(1,7,'2026-11-22T12:00:00.000+00:00',180.0,42.5);
CREATE INDEX settings_by_name ON settings (name, id);
CREATE INDEX sign_ins_by_initials ON sign_ins (initials, origin, at);
CREATE INDEX items_by_spectrum ON items (spectrum);
CREATE INDEX versions_by_author ON versions (author, item) WHERE author IS NOT NULL;
CREATE INDEX decisions_by_item ON decisions (item, id);
CREATE INDEX marks_by_item ON marks (item, id);
CREATE UNIQUE INDEX leases_running ON leases (item, person) WHERE ended IS NULL;
CREATE INDEX standings_walk
    ON standings (state, item, task, survey, snr, drafter, batch, disagreement, simulated);
CREATE INDEX standings_snr
    ON standings (snr, state, task, survey, drafter, batch, disagreement, simulated);
CREATE INDEX barred_by_item ON barred (item);
CREATE TRIGGER standings_insert AFTER insert ON standings BEGIN INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_delete AFTER delete ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated; END;
CREATE TRIGGER standings_update AFTER update OF state, task, survey, drafter, batch, disagreement, simulated ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated;INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER versions_no_update BEFORE update ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never update'); END;
CREATE TRIGGER versions_no_delete BEFORE delete ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never delete'); END;
CREATE TRIGGER decisions_no_update BEFORE update ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never update'); END;
CREATE TRIGGER decisions_no_delete BEFORE delete ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never delete'); END;
CREATE TRIGGER marks_no_update BEFORE update ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never update'); END;
CREATE TRIGGER marks_no_delete BEFORE delete ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never delete'); END;
CREATE TRIGGER verdicts_no_update BEFORE update ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never update'); END;
CREATE TRIGGER verdicts_no_delete BEFORE delete ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never delete'); END;
CREATE TRIGGER settings_no_update BEFORE update ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never update'); END;
CREATE TRIGGER settings_no_delete BEFORE delete ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never delete'); END;
CREATE INDEX blind_scores_by_assignment ON blind_scores (assignment, id);
CREATE INDEX blind_preferences_by_assignment ON blind_preferences (assignment, id);
CREATE INDEX blind_judgements_by_session ON blind_judgements (session, judge);
CREATE TRIGGER blind_sessions_no_update BEFORE update ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never update'); END;
CREATE TRIGGER blind_sessions_no_delete BEFORE delete ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never delete'); END;
CREATE TRIGGER blind_assignments_no_update BEFORE update ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never update'); END;
CREATE TRIGGER blind_assignments_no_delete BEFORE delete ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never delete'); END;
CREATE TRIGGER blind_states_no_update BEFORE update ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never update'); END;
CREATE TRIGGER blind_states_no_delete BEFORE delete ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never delete'); END;
CREATE TRIGGER blind_scores_no_update BEFORE update ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never update'); END;
CREATE TRIGGER blind_scores_no_delete BEFORE delete ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never delete'); END;
CREATE TRIGGER blind_preferences_no_update BEFORE update ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never update'); END;
CREATE TRIGGER blind_preferences_no_delete BEFORE delete ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never delete'); END;
CREATE TRIGGER blind_judgements_no_update BEFORE update ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never update'); END;
CREATE TRIGGER blind_judgements_no_delete BEFORE delete ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never delete'); END;
CREATE TRIGGER log_no_update BEFORE update ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never update'); END;
CREATE TRIGGER log_no_delete BEFORE delete ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never delete'); END;
CREATE TRIGGER exports_no_update BEFORE update ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never update'); END;
CREATE TRIGGER exports_no_delete BEFORE delete ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never delete'); END;
CREATE TRIGGER work_times_no_update BEFORE update ON work_times BEGIN SELECT RAISE(ABORT, 'work_times are facts: append, never update'); END;
CREATE TRIGGER work_times_no_delete BEFORE delete ON work_times BEGIN SELECT RAISE(ABORT, 'work_times are facts: append, never delete'); END;
CREATE INDEX inspections_by_item ON inspections (item, person, id);
CREATE TRIGGER inspections_no_update BEFORE update ON inspections BEGIN SELECT RAISE(ABORT, 'inspections are facts: append, never update'); END;
CREATE TRIGGER inspections_no_delete BEFORE delete ON inspections BEGIN SELECT RAISE(ABORT, 'inspections are facts: append, never delete'); END;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1399869235;
