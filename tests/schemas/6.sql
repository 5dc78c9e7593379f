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
INSERT INTO "blind_assignments" VALUES('-SKpvehrPvtoiTa7FpObTgKjNzhsfMcigQQRY6Hw9xI',1,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('0Q9R1xJyGEoQkOAc1P3zcD21gmYoyx1hqEX_8LR1E4I',2,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('1spD6VN0I-kIpIlwhqH8jfX31VqwbcOwRuTrWTeQFUk',3,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('5MMk6bJG2I_28bOQYHrdGlO2ZyCXHXmfCkP_bfG1ASM',1,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('5Sb_vhe9NQDvApi1t9DM9hIIthiFa-_zcGlFNQdaEKk',3,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('5T9ApZ6Dawg9ztlpA2PEqbrdFiwkgibvBfAS_qK7wBc',1,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('7DfhciTqDHuFEWZw0PXj1ckiEXMaq6Jo_YGNZ5djf6o',3,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('CEeEiTSZe3XBIPkVozG1EZll4qpz3IsiSrOxbaRv5qI',2,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('CwO3d0WaRSuXs6suhFZI8LtziSKws8tgyrb0cz9D038',3,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('EDmjSXc-ds0PfWL0s7lRwmmgDMl4lpMcNb0MA4w1goo',2,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('FI-Y5_zdhIo87v43k1fSqNISexohrxp_9yL1kvBmhTQ',1,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('G3z78ocKf0i3MOHDlkSmqdgb8jnbSjXPR2DWqk4iQzY',3,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('GorPNR0XDGy-rVjUN_gKK2dy2le9Ws0LEMi2lWIbTs8',1,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('GtMXzMP9zmtbKIVvSXo2O0x6_UpfpkZU9G2mNl-1v1U',2,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('KVId7dfZ1VN02tW6O1AI4AsOT9ETt5q__uclSyLcsQg',3,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('MiUU8n1qbkCmiBPFIbepD8EvVAYkcxbPjHxIC9koYdE',1,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('SVZu2th5woNmikCPdy4A-UKFPUWMCorp5D2EqY_lCsk',1,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('UVj4LnwEmOaG3MBpjYSzNu0Jw6YaLbPmL9h6He81GBk',3,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('WgzAti9LG2t_62lWNeuwXxfJ8iX04_ZnBr7X6nKWUDo',1,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('WquSPvxDKvYQGrft_B1RgGV_xHs_0YCRLMzYKcTJm4g',2,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Y3VwG982XMJxqAHOfyOjPiKbbS10CExFOdX0lGpjsOs',3,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('Ztwurm147UkPTbaYH9YoupbW7mpKqTV1-U-XO2XSiGA',1,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('a6MsaRLzVe2zxoHqYve8tlmxHXsowkH9voailI_Fa8A',2,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('b8ZPuLhTgDhOrNJbOcMEae9cxdA1scO-6OS4mkzsYPc',1,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('d1FJKmsjeBIVN6CDM7L8XmZd8QtTIKRot-gnHcCmUuI',1,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('dRjA5DJXcHj2gxYoMfH_3pyFT_-zCzhbEO0AHpxdfIc',3,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('df2T-3i3hzDfJ00mhKVxL5wA-lK3ANLOJNwsjngyrr4',2,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('kJrh5c5LGxeCoUlKf2JON_yiQcbPL3cnocpsxrl1AM8',1,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('kc-mYhq0DLXUbnK4Ck59RyeRL6DEq86utmLocfpXg7c',2,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('n9nxJvZ0CaEk3RI3ePUYg-TAdz4aszhb0sbNJrHKEDI',2,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('nGHS-lzaC74FyhlTWEtgU7socJ2-0KLopblc3s09VbI',3,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('oNpTLW4qQ2RPpd6Bv4TmRTP2YcQ_YkKOp2xo3kEl2fs',2,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('uVh6MVxhhTbK7a4s5lku7Vjgst69Xim6b7kvIKttZCY',3,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('v3JKgOpjvaXHXd3ooJcau5Gs2h04Q6Z4I747xvPA01k',2,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('vI4whwsXSrMpiOBU3mAhy0tKJBVOy850v8i-cIzfpCk',3,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('zkpa7wmfQ_7wQ50I-jS0CNgABsGe3BpRmBL_-HtOQ28',2,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
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
INSERT INTO "blind_judgements" VALUES(1,'1e91f4c8d6d949df9dc43c33435ce238',1,'judge-70b',3,NULL,'{"coherence": 3, "consistency": 4, "comment": "Sound.", "wrong_steps": []}','First the lines.','{"temperature": 0.0}','["{...}"]','{"requests": 100, "prompt": 20, "cached": 0, "completion": 0}',0.0012,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "blind_preferences" VALUES(1,'7ad34a505a7a499789d2c6017af02904','WgzAti9LG2t_62lWNeuwXxfJ8iX04_ZnBr7X6nKWUDo','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(2,'1d43fe43e84e446089cca69bafe2221b','MiUU8n1qbkCmiBPFIbepD8EvVAYkcxbPjHxIC9koYdE','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(3,'9d13d2e0eb3a4c08b67f3a7f46241f37','0Q9R1xJyGEoQkOAc1P3zcD21gmYoyx1hqEX_8LR1E4I','left','','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(4,'0c545d7df6f040cb979b3e61bc97932c','CEeEiTSZe3XBIPkVozG1EZll4qpz3IsiSrOxbaRv5qI','left','','2026-11-22T13:23:00.000+00:00');
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
INSERT INTO "blind_scores" VALUES(1,'0c0a7b56a1be46618106a1227077f90f','kJrh5c5LGxeCoUlKf2JON_yiQcbPL3cnocpsxrl1AM8',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(2,'a4da3fe78e824d938574163318bfbbe8','d1FJKmsjeBIVN6CDM7L8XmZd8QtTIKRot-gnHcCmUuI',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(3,'940b16c7a5c3449bac591f74b9d8a3c3','b8ZPuLhTgDhOrNJbOcMEae9cxdA1scO-6OS4mkzsYPc',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(4,'1f26fcd0648f4be1b73cecf102d3cbb2','FI-Y5_zdhIo87v43k1fSqNISexohrxp_9yL1kvBmhTQ',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(5,'d7b4748ec9664e65a7193d411314093d','v3JKgOpjvaXHXd3ooJcau5Gs2h04Q6Z4I747xvPA01k',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(6,'0ca4fddaec3d4431834fa4c3e3b666d9','GtMXzMP9zmtbKIVvSXo2O0x6_UpfpkZU9G2mNl-1v1U',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(7,'677230b925d74289a6952f27e202d630','a6MsaRLzVe2zxoHqYve8tlmxHXsowkH9voailI_Fa8A',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(8,'e4ca78de93c44fc097c26f7d2b66b387','df2T-3i3hzDfJ00mhKVxL5wA-lK3ANLOJNwsjngyrr4',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
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
INSERT INTO "blind_sessions" VALUES(1,'749c0fd58da041208e28b2e0aed0c220','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(2,'f24737b1a9bc45cdba611f3bf288404b','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(3,'c1ca21c4c0ac4ad5afe052859ded0a33','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
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
INSERT INTO "blind_states" VALUES(1,'4faca710adf34919afc12fafb4d95f68',1,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_states" VALUES(2,'4cd8c350ef77421fae648a64304fe9fa',2,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_states" VALUES(3,'1e801528a5f6427d992fc19be17b56cd',1,'closed',NULL,'CO','2026-11-22T13:43:00.000+00:00');
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
INSERT INTO "decisions" VALUES(1,'cd56a2ce98214336a10dbf023d7bc107',1,1,'RE','screening','keep','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(2,'c06da12d207048cf9461e1371da76af4',1,1,'RE','revision','submit','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(3,'7932091c4ad64eb2b22e70b3926f6c10',1,1,'AU','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(4,'644540591fec44a0913f5d23375b2a6a',1,1,'AX','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(5,'181e11b8ffac41b093e520307b50f4d5',1,1,'VO','vote','approve','','Fine.
Two lines.',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(6,'aae646c547c04228b0a6b834ac17281a',1,1,'VO','vote','undo','','',5,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(7,'b2d0578c24ff4746aab9d61e28c81a28',1,1,'VO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(8,'654d1ba8efa84a00b7f74a1c7fd2dac6',1,1,'ZO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(9,'eddfe661622948a19d679e7a939adb67',2,2,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(10,'7778bacf69eb45029e2a14450022ad56',2,2,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(11,'3e0b704ccc164ef0b05a5b3a69886e5a',2,2,'AU','audit','return','','look again',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(12,'a5d32fa724c44fc68044f4436aeb085c',7,7,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(13,'4f4633a35bd9446198ab54ac030ae853',7,7,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(14,'91b60a2435544963ad92ee261886f1bc',7,7,'AU','audit','pass','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(15,'1964e7b6bda144bc8a1168436b9aaa17',9,9,'RE','screening','reject','bad_data','',NULL,2,'2026-11-22T12:03:00.000+00:00');
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
INSERT INTO "grids" VALUES('c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626',300,'<f8',X'789CEDC1F923138A03007047B2353247ACD058CD726D29D764C895AB7DB7F608152B42CB44C815CB99A369F12CE67AE426B98F5C89468A1C092B32595A52B926E69BF723F5DE0FDF3FE0FBF908E8861AFB0D59E7CF3E0F5C6BF5F6743D9678336CF7B9901922844843BD916D2811B032CB0FBF8B703F46675A9BD2A57B8E5E495E750BDF0D9F30DF88CC6346B017A0633D299822945E4E701A706179ADB78F567733363FF94107B0A41D79854475EB481D8CAC768C4605C6B41499BC8F1CF17C393D51040173B2941FDBD0BB4AA054D3D1D63A55362945C1E850A510244E3E8C6FB6594F975B5B2FB9202AA44C2B571A7F9F96C77DA51D314DD60CD910E7725BC6B307DF5B7F4A50BC648CE430099F2DD6CDD2519CE1AFEBF07E0F63E345DB708946FDE4374686C9A872F82575B7C35AFBC968236DA7C751D93257F1FBF6BA27F58A9DABCE5865103C0AA192F992F68EBD5A2C889432278C4F116D5E0F4F352349C465AD1CD520426A24461E8DE1CC235FE140565B029FF6FC177253BE1590FC42EB98D9C71AE7BAAE56B0DF5471F085FE1ADFF934B26487CBB397788B5D0E417297846081068653B22127743FDFFEF2088607F3BC32EF1B13AEABB045E6C6A0624B48A45FAACD3541F5539CFEDD2CD6EC11D5E756D66F43656589CECB05215215301E41A6B761EEB0107B0DCF22A6C3735393E45ED89ECE551774A0595A17D588DE4B4E2F966FE99C324CE0E367182278E7D2F0A18BD552A50158FE11FFEBCDEFA31DA01D066D8594FD14112CEEC291E77D2A049B44A5AA20C2808246C1A265D98FCFD083973DD3AF539C9A83D24F0B5E380D82479268B27FC2CE7B4BE4CA29023E25DF7382012560F01F11C5FE02C971B144242EA4961408912E4C37CBD432BD00830517DEAF6222F2A2FE72CAE23A6503EE8D2AFB5CA32EC6AC3131A1015B02878FF34E09CB5E97DBE382CA9BD5EA17395ABDE25BA0E083467CB1DAB5BCBA34D5105B5939662A71C9C3D6827655E19BF6C9008DE1E19CAA98DCC41130EB75FEA2FFFB657F04DBBF85C16B9D713DEEFE53AA196CE8D975FBABD19367F975C4BD48FD12C1FE6CD13255943723F0D91F2BB7C6D889CC94EF7309F31AD7D87530D29BDAB34A7EF5AEDC91C26F5676F9BC4D5FE96A79F5275DF0B71FED0E78E2F87FE2C9C8A9112F01E08A1169D75F1384E64E7839D44123DE81AAAED7F1AEF23C44BE0440CBA48ECE99FA6C461781036908A0B88CE844AC6422A03C4BC2246043DD4BB1ADB7DB6CDA485C78268026FD918FE50CAA4AB7130D73DEDADFA84DBA7DC2020BD0A2AD99BBE8F62915D6F68BDD0DE51D73EBA482E24E3728B249B09BDFD7E5A706E3D28B1DED715B023A3A62CF830EB1CA72999AD30B976CEA2BCDA242B49FA212A78DEAB0FBE1141DFB0511170088AC73551633A7F0C1D46CDE14275FB1C7D0E6841CA732C806A9762A69AB9CDE6305B55FDC0C0F1796EB046D647C159A8CDF436E5C5239C7987798CD4EAA3B34BDE48E89B3BAE3DCDA7CBEA23614482AEC1E1C1A662D2328C26D8D1B7729AFD34768E37528FCE11A1184F266772446787264F1E4CBAC561D69D743244C49BDCFA418602209D16CC7CDF2F5790099F87E055B9EC8E3176CEEE5DC01878E1DA34B94FA90CAF495AFA1C8DA34AA5E46E7E3BB58C18610FBB3495B6D2376BAD9C932467215400CC1C9F9F2ED1726CBDFCD7FAA8D8A4F3B27846126BDBE04C98EF5FEF0B78AD16B600C389BA59C0E4710803864C5E003B56BC176CB812C8447CE1B598F7EC2960040D93676089979A0CCF667273D3C302283B9EB8F06D54796DFCA831D6DB0EED4DE7D2D2B7AD1E37AB99277C0B9BAE3D17ABC76DA55BC09DAD0DAF556F934D4AB054259242FC740BBFD35973A3329644F52484A2307EA5E2B7EFD83CB6CA054B3B7DA726F714A42527AF5A888C96D967E3E84817872597624CBEF8C09DA18E793FE4AEA621B9C215F6A3E9FEBAA29FA953DF31D74DCB3F4877DBB4EB3ED673A4EEECB407B6B0F1B6048194466EECBD16151FF7370933BBB20A24E2CE039F658BEF6957F931BECEA70DE8FDE274E7CAA5D6F3977FF2C42746D6DB78A03FDA365A37E9FF741767D46726AD910F04C855CAA52870F4A88F396BD71C8B50274F3672A7AA92D233E21BB8B6F3904B449E35A3E54BC7FA018331987E6B5513D6DF58F6A61CEF8310640670AB63EFD94513371204733AA7A2657403034CE3382FEB0FBDD320866708614C5A8E99BE103F7C19006A70844EF90D8949CF2A6EEA1A9F91F2252500DB42581E813164F7F50D5FE62626E4508ACA88E3E65EFE647A1669636315F7F58DCDAABA06E6075D623203A25AFAA6360F2CB26E8802ADACAD133288E5E54FF6C94B32AB20FAE6361EF7123EE7E7153EF047703A4A089C1BAFA46A516D433C7B97CB183A89384CB37E21915ED831F5645F76B18E1DD6EC46756768E7C5C17533A6EE9E47D2BB5F8F1C0CC2A5051CBC2891C9956D63E3CC7071F4663DD82EFE435BE64F340CABA761783A8F94D03B31B60150CE1CA2DFAC32ED622E0A08E9D5B584A69E7F83751A82ED623825EC99C5A139551D2D0B7C0BB9082A26959A50D4F5FBDE3F284C18A6A7AE67817EF90B8D48A8A87DB2AB73DDA56F52FAAFFA9E69F6A7F57F79BFADF34FCAAF1174DBF68DEE9F14E2D3BB4EED0B6AD7D5BC7B627FFA2730793FFFB9FFD0D7CFB8B39');
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
INSERT INTO "inspections" VALUES(1,'eb5aeb34c8c34f43b13f1021e6fcf7bb',8,'RE',0.0012,3,'R','','Blue shift.','2026-11-22T13:03:00.000+00:00');
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
INSERT INTO "items" VALUES(1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(2,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(3,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(4,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(5,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(6,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(7,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(8,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
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
INSERT INTO "leases" VALUES(1,'PrS5WO2NAWapAJFyWz55tfEMpkqmNfavGim9Yv5rDMQ',1,'RE','screening','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(2,'pqiqmr4rE8BjFggRHdISiiUjyQns_o-CUxIiAcnJA3Q',1,'RE','revision','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(3,'Gz9cdUsmt89l4VEldC6AlGPPz0iKzFrlGruU5KjoVeU',1,'AU','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(4,'c6izXB94DWr2bl0GY29T0bXqjVkQWMnzGCNxluQN8-Y',1,'AX','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(5,'xQ3qIkUMzXmCYeACr3XHy7iWBkvS9pxDLlF8ynx92mo',1,'VO','vote','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(6,'RUGZJ_M29dCxBNMr7D09U03AqsNoBOtJsKeofNG-Y08',1,'VO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(7,'-cjRhz6IVEr_69SYLsCC4x9qffqSt387fxONI_jh8uA',1,'ZO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(8,'7dpXzSSRQmNFcfWwwwC0xyvplbyQ9tsJE1JU0vHWyl4',2,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(9,'SiOBg689nxGATvyBLWpHcff5wm9BvImaykmYokETs_k',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(10,'BFyZ85RdZ13_6BWthMSSWbV_X_HhVnJcoHuiFnnX2rE',2,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(11,'-aCUl4HAyL67ZBc-ELs2XUDvmH4-ptNj0ORNCWFaO-o',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(12,'bFJHyHzigZw0KKapI1jd5iYcc1tvQAIUGtk4w1BLKKQ',7,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(13,'YjMcd1_vcfyKF3QeDquCfKzYqMJxDtmbRjqJijlhWzU',7,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(14,'M9yhWYoYG-cr9cVofJCMh-kapSNAdXVSzp9DkxHlKf4',7,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(15,'fAwbaBjRJlruJgKMVmPS3d6qV_yHLJenWxjtNebWC6s',9,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(16,'l_BIWLAiLCXLwlxwZS8-m4Bhb54M2dVye8BSadaOQVg',3,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','released');
INSERT INTO "leases" VALUES(17,'rqRCkva8Q9C5kLb0LdKfIU0BD21BllQZfwVIfLlQMJU',7,'AX','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(18,'ntRMhhauOs6T921F21SSEUHOgdXz3XJwCwRhNNUvadc',4,'VO','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(19,'SDTht-kT92f82UI9mjD1sr3v5Gom9ONKViWB0hziFXw',4,'RE','screening','2026-11-22T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00','2026-11-22T13:18:00.000+00:00',NULL);
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
INSERT INTO "log" VALUES(1,'2026-11-21T12:00:00.000+00:00',NULL,'log begun','settings','{"count":1,"facts":{"settings":[1,1,1,"da45dae2092983cf492d49dedffc63af8466b3ad83d1513ae2ef09a9c3d8b0e9"]}}','0000000000000000000000000000000000000000000000000000000000000000','ff43bb0ec12c04885707cea7c4b9a5780b9eaf370d62e75a250bb0c544a1fb48');
INSERT INTO "log" VALUES(2,'2026-11-21T12:00:00.000+00:00',NULL,'person added','RE','{"people":{"RE":"4ffc31bd6030bebde8466ad26b5ecbb6adab970dc19f71b2ab24a9e7c46c6424"},"roles":["reviewer"]}','ff43bb0ec12c04885707cea7c4b9a5780b9eaf370d62e75a250bb0c544a1fb48','cc48e48c6723d935a9e0f044236df85c9e5643ab01935448a35c881380a8ac27');
INSERT INTO "log" VALUES(3,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AU','{"people":{"AU":"ba41626517611142e220083da52d29b95b8f219fd29923733092bbd395ba1442"},"roles":["auditor"]}','cc48e48c6723d935a9e0f044236df85c9e5643ab01935448a35c881380a8ac27','7d960bd57bcfea613dec957db37ee26c40707fa2fdae347f670b20374dbec898');
INSERT INTO "log" VALUES(4,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AX','{"people":{"AX":"94324b0b0cedfdc3eadb0c9414f9c13249be615ad7e39e3fae995d07d9fb9bf6"},"roles":["auditor"]}','7d960bd57bcfea613dec957db37ee26c40707fa2fdae347f670b20374dbec898','067387e36d7592d62800483e8c90b24193aca17fa2879ae3e828c123c4cd4311');
INSERT INTO "log" VALUES(5,'2026-11-21T12:00:00.000+00:00',NULL,'person added','VO','{"people":{"VO":"4a4699490db6743b872754a1253a2a58ce22b0339bb7f3deb3bf9967ba154c40"},"roles":["reviewer"]}','067387e36d7592d62800483e8c90b24193aca17fa2879ae3e828c123c4cd4311','fa687166fb8175b4b7cdc04b6f19f5bc4d209f2255b4f5d6c35998db5b6a5d3e');
INSERT INTO "log" VALUES(6,'2026-11-21T12:00:00.000+00:00',NULL,'person added','CO','{"people":{"CO":"dd864c1b73198be0ff4b303ddc7870025b6312f0e25267c725c6a95a70b6c979"},"roles":["coordinator"]}','fa687166fb8175b4b7cdc04b6f19f5bc4d209f2255b4f5d6c35998db5b6a5d3e','53b405df5ceccf08e8032285b69ef4edd7fdc206c5b99ce48868b9e4383e04a9');
INSERT INTO "log" VALUES(7,'2026-11-21T12:00:00.000+00:00',NULL,'person added','JU','{"people":{"JU":"a0479ed58460e5069fe62c36dc17a3d60c4cf0b0c98415d591ff3867e6c81b84"},"roles":["auditor"]}','53b405df5ceccf08e8032285b69ef4edd7fdc206c5b99ce48868b9e4383e04a9','c5572f84777b4c12ab569d62fc1c4fc79fd66d8ff62148462a5ff402432a1dea');
INSERT INTO "log" VALUES(8,'2026-11-21T12:00:00.000+00:00',NULL,'person added','ZO','{"people":{"ZO":"71926b219a5bdce0e0c33704877496c1b23503741c2b46b4b9413cb67b0d78c7"},"roles":["auditor","reviewer"]}','c5572f84777b4c12ab569d62fc1c4fc79fd66d8ff62148462a5ff402432a1dea','ce8329bdddda0b1233ea0973189e453871c9ecccccea0412a449e425b69d0091');
INSERT INTO "log" VALUES(9,'2026-11-21T12:00:00.000+00:00','CO','rules set','rules','{"before":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":2},"facts":{"settings":[2,2,1,"6a1085363c13c03b0bbad93ffed0cc6fc69d7ebac2571fe1df654470e4d00161"]},"rules":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":3}}','ce8329bdddda0b1233ea0973189e453871c9ecccccea0412a449e425b69d0091','1e5fcd1eaf0cc12a85eaff0622c5d75003ae07239e470914f36324863358fad6');
INSERT INTO "log" VALUES(10,'2026-11-21T12:00:00.000+00:00','CO','setting set','campaign','{"facts":{"settings":[3,3,1,"7026fece3c7ac51c65b625007ad5f8e0b5878fb46f9323153cf39438e1734d44"]}}','1e5fcd1eaf0cc12a85eaff0622c5d75003ae07239e470914f36324863358fad6','c78d29be4243bc79efafa1b121b0a7d88708ab1f79ae6a1563e84f8a00b590c8');
INSERT INTO "log" VALUES(11,'2026-11-21T12:00:00.000+00:00',NULL,'items added','items 1 to 9','{"count":9,"facts":{"items":[1,9,9,"9ce4e91978a89fe5853fc246b340d09d2d9931be2e3ee777af22c9a5282e6833"],"versions":[1,9,9,"9e605eaa17f935b1b9391740af603a762ec3f8f06fea4f443db2a08ddc5480bd"]}}','c78d29be4243bc79efafa1b121b0a7d88708ab1f79ae6a1563e84f8a00b590c8','5cadc9a43dee8f52faed4fb1035957a143cc6076ab72bf6e8a285a15df9bcadf');
INSERT INTO "log" VALUES(12,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[1,1,1,"532b906827704287f30cb6e14b68ed66e2d77902e09ab3c0926e0db9c3451afe"]},"round":"screening","verb":"keep","version":1}','5cadc9a43dee8f52faed4fb1035957a143cc6076ab72bf6e8a285a15df9bcadf','f22b6109a2d025f72ade77f8d0c98c61bea051412008b0916ecb8e2c4e7e4c26');
INSERT INTO "log" VALUES(13,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[2,2,1,"ea3221ce105888205984d11073a34cfbb40306b6392b80d8c5162744869f27f9"]},"round":"revision","verb":"submit","version":1}','f22b6109a2d025f72ade77f8d0c98c61bea051412008b0916ecb8e2c4e7e4c26','0f562c7cf1de88e1a659933bb37654c3f5af0966b6c7800263cd3b475fa8f9cf');
INSERT INTO "log" VALUES(14,'2026-11-22T12:00:00.000+00:00','AU','decided','item 1','{"facts":{"decisions":[3,3,1,"78e9698412a6f22eeff09ad075e0de0d185ed15b1aebe984943838c37e44b4ca"]},"round":"audit","verb":"pass","version":1}','0f562c7cf1de88e1a659933bb37654c3f5af0966b6c7800263cd3b475fa8f9cf','3dbe977a46434609314d85dac920affce263a391f1c6d8644e6615cd10af76e8');
INSERT INTO "log" VALUES(15,'2026-11-22T12:00:00.000+00:00','AX','decided','item 1','{"facts":{"decisions":[4,4,1,"f39744110b74a6f78aa6185268b6c02255cb3e96b54c6aae5ebeb79151a2a2cb"]},"round":"audit","verb":"pass","version":1}','3dbe977a46434609314d85dac920affce263a391f1c6d8644e6615cd10af76e8','fef56f0895cc745270e64d42d813feb06426da45846a7740ad3ec23e7be66fde');
INSERT INTO "log" VALUES(16,'2026-11-22T12:00:00.000+00:00','VO','marked','item 1','{"facts":{"marks":[1,1,1,"dc5ca9cdac2369ef6346418086a5a5502a668afa6479ad21c7e4aa5f1aeaa87f"]},"mark":"hallucinated feature","step":"s3","version":1}','fef56f0895cc745270e64d42d813feb06426da45846a7740ad3ec23e7be66fde','0343f049f0e7274d65f810e67eaf1d8b15310cf99cdb457f2cd6c6ac837b492c');
INSERT INTO "log" VALUES(17,'2026-11-22T12:00:00.000+00:00','VO','verdict committed','item 1','{"facts":{"verdicts":[1,1,1,"5315470dab9b5a6f8b1b4dbf2ea6f2aa2859007a36f97a29eab1e7a76a267e6c"]},"verdict":"cannot tell","version":1}','0343f049f0e7274d65f810e67eaf1d8b15310cf99cdb457f2cd6c6ac837b492c','3225f32b2b1a3a2b7e559f5e16c987b7962d5bd81bb3e4a9945a49319af21a60');
INSERT INTO "log" VALUES(18,'2026-11-22T12:00:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[5,5,1,"791b3f17810538304f3710d7fedd6b8354a6c8001413e54a3564f57ce82c8e15"]},"round":"vote","verb":"approve","version":1}','3225f32b2b1a3a2b7e559f5e16c987b7962d5bd81bb3e4a9945a49319af21a60','6b008a78c8b460ee3f2c376d2e9384c89d816dcd2a2f000e9b48734cab7975c0');
INSERT INTO "log" VALUES(19,'2026-11-22T12:00:00.000+00:00','VO','undone','item 1','{"facts":{"decisions":[6,6,1,"c89c539cb56ba1793e353029467e9c49092627fab08ea115919f71e212f95405"]},"round":"vote","verb":"undo","version":1,"withdraws":5}','6b008a78c8b460ee3f2c376d2e9384c89d816dcd2a2f000e9b48734cab7975c0','3694c2d53885381b143062484a5102ccedd8b57c165753e4c5a4479668aca073');
INSERT INTO "log" VALUES(20,'2026-11-22T12:03:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[7,7,1,"b8b121fc72ab01907d047550cda955ca23dc5803c281f90ecacdbd122b4a2c21"],"work_times":[1,1,1,"599e532d4b5fbf83482bf4db8963af89d5828c26742c8779ecf76d7612c83945"]},"round":"vote","verb":"approve","version":1}','3694c2d53885381b143062484a5102ccedd8b57c165753e4c5a4479668aca073','5b7ea9a532b1db845c7839b27b320ac157eab08a4677aa619b3b89ddb05ac206');
INSERT INTO "log" VALUES(21,'2026-11-22T12:03:00.000+00:00','ZO','decided','item 1','{"facts":{"decisions":[8,8,1,"79ecfc536ba7870abf9520be39afdc57a6ecfb5a26c8428d2525c8e2eabb7b87"]},"round":"vote","verb":"approve","version":1}','5b7ea9a532b1db845c7839b27b320ac157eab08a4677aa619b3b89ddb05ac206','548b0f59aba5cae40f761ca09c2a3dc3f41b102293b16d95b80c3da592263459');
INSERT INTO "log" VALUES(22,'2026-11-22T12:03:00.000+00:00','CO','exported','first','{"facts":{"exports":[1,1,1,"aa384363c82d296e8c7af99c87200923b473a4ea4d5ebe282b4b1d50979f5a7f"]}}','548b0f59aba5cae40f761ca09c2a3dc3f41b102293b16d95b80c3da592263459','cd654de43806c7e33726e85c3df08c286593aa26a8d5889249c7e745f0979278');
INSERT INTO "log" VALUES(23,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[9,9,1,"ea81a6ec3b5b7f7697563dd4caacd7ec565b98fc02d2f561d43a3cea9d71b7e9"]},"round":"screening","verb":"keep","version":2}','cd654de43806c7e33726e85c3df08c286593aa26a8d5889249c7e745f0979278','c0137f1b34b31338f07241ed6d6310d56cd1d2cf7d5b277c0202c5d140a8ad2a');
INSERT INTO "log" VALUES(24,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[10,10,1,"a37ccc795fe226fc7b326ec2d2fa4361f9dcb88fe63205de04ec9b99b8735a78"]},"round":"revision","verb":"submit","version":2}','c0137f1b34b31338f07241ed6d6310d56cd1d2cf7d5b277c0202c5d140a8ad2a','e840a21f3f436da8cabf44b5720540844e8e61daff79b6c2ddbd6910d30c6889');
INSERT INTO "log" VALUES(25,'2026-11-22T12:03:00.000+00:00','AU','decided','item 2','{"facts":{"decisions":[11,11,1,"bde20b6bb19b288845ccc0e1de9f818af69c40d29027ac86de26cb91de1a3ce4"]},"round":"audit","verb":"return","version":2}','e840a21f3f436da8cabf44b5720540844e8e61daff79b6c2ddbd6910d30c6889','403cf71d8be113d01fa53416f4f999e14ac949484f406064c072c0700ba1db88');
INSERT INTO "log" VALUES(26,'2026-11-22T12:03:00.000+00:00','RE','version saved','item 2','{"facts":{"versions":[10,10,1,"958879cf99974fcff1966924e73ef6e59bb87ce6a9d0dbf5fe764afa09d76eef"]},"number":2}','403cf71d8be113d01fa53416f4f999e14ac949484f406064c072c0700ba1db88','aee1a3e97495be97126f5448f3061887e931d55d03f5701c19bf0d1da5d961e6');
INSERT INTO "log" VALUES(27,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[12,12,1,"2c37e378b00733eaea9fb9d38e4612dfbb020078e2598bed56a40e4f0c39d202"]},"round":"screening","verb":"keep","version":7}','aee1a3e97495be97126f5448f3061887e931d55d03f5701c19bf0d1da5d961e6','dad19b0fe71c261d3a9f337ae63e99f4bc9ba05f10b23576ec50c5642b60882d');
INSERT INTO "log" VALUES(28,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[13,13,1,"a7efac6dddc2fc65e209db461ce73a224ef668f10d70b60a9572a5c72b5bf34f"]},"round":"revision","verb":"submit","version":7}','dad19b0fe71c261d3a9f337ae63e99f4bc9ba05f10b23576ec50c5642b60882d','580583379d384caaa6687ec3dd80e0afa96ca8d56bdb14bdc3fb76584644c96d');
INSERT INTO "log" VALUES(29,'2026-11-22T12:03:00.000+00:00','AU','decided','item 7','{"facts":{"decisions":[14,14,1,"8392c0ea3bcd2262472a1f4035c552f1264ba6796d3a673ee6811c2e3a270ad5"]},"round":"audit","verb":"pass","version":7}','580583379d384caaa6687ec3dd80e0afa96ca8d56bdb14bdc3fb76584644c96d','24d6fba6f734d4f5608e58b5f3fc9b8823a0c48d4ad8063bfdc145eb521f5573');
INSERT INTO "log" VALUES(30,'2026-11-22T12:03:00.000+00:00','RE','decided','item 9','{"facts":{"decisions":[15,15,1,"c2fa9234c7a2922d3edb8f1d0cef4a22f5c6933f59c7fefe5ddc71c45df7c098"]},"reason":"bad_data","round":"screening","verb":"reject","version":9}','24d6fba6f734d4f5608e58b5f3fc9b8823a0c48d4ad8063bfdc145eb521f5573','9f443fe54c7a4fabaa0398c5e0d52f98b290ba4b9ab95d6e0ce5919b52a3afa9');
INSERT INTO "log" VALUES(31,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.1"}','9f443fe54c7a4fabaa0398c5e0d52f98b290ba4b9ab95d6e0ce5919b52a3afa9','42c5ef0df549a765bc1d2769299af002ab0dd3e555b2186f51e86fa683c3a207');
INSERT INTO "log" VALUES(32,'2026-11-22T13:03:00.000+00:00','ZO','signed out','ZO','{}','42c5ef0df549a765bc1d2769299af002ab0dd3e555b2186f51e86fa683c3a207','c859cbef2d4637f0e5ef025a77504737bf804bf4f7b0899b597d540cd2b78a0e');
INSERT INTO "log" VALUES(33,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.2"}','c859cbef2d4637f0e5ef025a77504737bf804bf4f7b0899b597d540cd2b78a0e','909f9c9d7048cd750b4ae8443b036049b0fd136a0ca67cf08e6abf04226ed8eb');
INSERT INTO "log" VALUES(34,'2026-11-22T13:03:00.000+00:00',NULL,'sign-in refused','ZO','{"origin":"10.0.0.3"}','909f9c9d7048cd750b4ae8443b036049b0fd136a0ca67cf08e6abf04226ed8eb','bfbfb3733493ec27243149fc23333d7170f4c4eec4abd1c108bbe826882cccff');
INSERT INTO "log" VALUES(35,'2026-11-22T13:03:00.000+00:00','RE','inspected','item 8','{"facts":{"inspections":[1,1,1,"5679fe046ed391a19cfb87a8bd1f11d620a450014a960362626ee26365fde414"]},"number":1}','bfbfb3733493ec27243149fc23333d7170f4c4eec4abd1c108bbe826882cccff','77e13311041c7ee2cd9b4ca5ea7f41917c411500a06f05086cb9dc9b55ba4e94');
INSERT INTO "log" VALUES(36,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 1','{"assignments":12,"facts":{"blind_assignments":[1,1,12,"a1bbc607d8cd28c30b5a93aa335a8a57f100aa4ec7119e5748b41f836df71f50"],"blind_sessions":[1,1,1,"a79b1443d3a83470277ce7d2a902b436f3595e7373f28e8cff11e0e62a94f265"]},"scorers":["RE","AU"]}','77e13311041c7ee2cd9b4ca5ea7f41917c411500a06f05086cb9dc9b55ba4e94','a0479ac815c09184edab5b759050932a7fe1a13c605ccc1d925711d534abf8d5');
INSERT INTO "log" VALUES(37,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 2','{"assignments":12,"facts":{"blind_assignments":[2,2,12,"50731f4ab07f03293b0889d7b68f67d0190877adbf0a751268359dd99b089ade"],"blind_sessions":[2,2,1,"0f9f45e325fc69effb083a968e5d0c7aaa5816d68b56489afcc8150cd9741b35"]},"scorers":["RE","AU"]}','a0479ac815c09184edab5b759050932a7fe1a13c605ccc1d925711d534abf8d5','10e8ec2ee7caecd1e29c1b8a5c137fa482182dae2f7b62619b4ce9c22fa74dcd');
INSERT INTO "log" VALUES(38,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 3','{"assignments":12,"facts":{"blind_assignments":[3,3,12,"20f19397ff1b0ae15e854e7d468977527f2016d5c78f8ad8949059031a5a0257"],"blind_sessions":[3,3,1,"e2e53ddadbb1cdf39dcbb1fed4e642b93d1d88492d26aad3733e13f851220b74"]},"scorers":["RE","AU"]}','10e8ec2ee7caecd1e29c1b8a5c137fa482182dae2f7b62619b4ce9c22fa74dcd','3d2358819168e8a78169bea9d5bba6d391ab0385be06fb14fbfbc432a14f6c9a');
INSERT INTO "log" VALUES(39,'2026-11-22T13:03:00.000+00:00','CO','blind session opened','session 1','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[1,1,1,"65205f3a49c4c14af2cec0f1ebd8287296dd233c86652b7a5a655a3a84369c4f"]}}','3d2358819168e8a78169bea9d5bba6d391ab0385be06fb14fbfbc432a14f6c9a','305f9437ab18fcd322201ef6806d0253b3fbbfeb8747758805b8661e70409e11');
INSERT INTO "log" VALUES(40,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[1,1,1,"89b502e9c94ac921a4a3901b06baeae0557471f32fa1e4ead006217179fcf231"]},"place":1}','305f9437ab18fcd322201ef6806d0253b3fbbfeb8747758805b8661e70409e11','8f495a129341e4693e1d225dc8d9b7fe7e79750e6a98d7530a9e697357d48482');
INSERT INTO "log" VALUES(41,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[2,2,1,"b625a6476ef1672b3b2ad0b24ebb9dcd040276aed747012a6deadf056d1c630e"]},"place":2}','8f495a129341e4693e1d225dc8d9b7fe7e79750e6a98d7530a9e697357d48482','eb31d5f526bc9d494cfcc91fc1108fd5a4e1ba6d719a461bdf0c1f31448ec0b4');
INSERT INTO "log" VALUES(42,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[3,3,1,"e727b20cb81c791d5cc6d589cf164f550cd6f624847944a65670b89dc1a173e7"]},"place":3}','eb31d5f526bc9d494cfcc91fc1108fd5a4e1ba6d719a461bdf0c1f31448ec0b4','ebe6770b802b73d5e6f0e60abd8995450a3dafee57d2f70c1f087487317e840b');
INSERT INTO "log" VALUES(43,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[4,4,1,"6d567c80b9569ab8ac9fdf40ba23026b2736952e45e4dc2fc02beab4785bbc6d"]},"place":4}','ebe6770b802b73d5e6f0e60abd8995450a3dafee57d2f70c1f087487317e840b','51fb5a512d97d4f7d188f966b4e239cd76835aedc66f11429cab9e144bdf9686');
INSERT INTO "log" VALUES(44,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[1,1,1,"72086820a7b962dc241efa842d4f476213c84cb279fa750f9f73d35a1269adb2"]},"place":5}','51fb5a512d97d4f7d188f966b4e239cd76835aedc66f11429cab9e144bdf9686','41db3c227600cd4012eb865344aad36a5ed1b466be927c9a6137174c79c9f793');
INSERT INTO "log" VALUES(45,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[2,2,1,"413d8a9ceac761714737df01be5014e5383be31d2d1ef15fbf2a90ace330c179"]},"place":6}','41db3c227600cd4012eb865344aad36a5ed1b466be927c9a6137174c79c9f793','8af52f31adf8903c168554e14de2035ffe00d4c7ab1f72e2ba9f8d31a3adf4b3');
INSERT INTO "log" VALUES(46,'2026-11-22T13:23:00.000+00:00','CO','blind session opened','session 2','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[2,2,1,"75cd053d75019d75b3103c3f02d85369e8a4a5c5fe2aabfadef704b7ca87d9c7"]}}','8af52f31adf8903c168554e14de2035ffe00d4c7ab1f72e2ba9f8d31a3adf4b3','92e9982c9b95df90dba92d2c00a56bbc4676d41e0dc65723128f2ecc415ea065');
INSERT INTO "log" VALUES(47,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[5,5,1,"a6c8990a19feaf94395de5cabdaf817b54b82678e74d0dcf69911f16d37e4edd"]},"place":1}','92e9982c9b95df90dba92d2c00a56bbc4676d41e0dc65723128f2ecc415ea065','4c1989a7255154aebe38faf68599228750fc8627c9930d7a64952cb307d563d2');
INSERT INTO "log" VALUES(48,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[6,6,1,"b3a89775c5f06d82a09fb437a85f42ddbe9e39b331b2f1beddac5b97e65b4344"]},"place":2}','4c1989a7255154aebe38faf68599228750fc8627c9930d7a64952cb307d563d2','6d789e637ad8eb2246eb21aaab4f9ddbf38732aba016fe53e61bfbaed2fbeafe');
INSERT INTO "log" VALUES(49,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[7,7,1,"ac18efca562b2f0e8dc5aac05a7fbc4eceffe985cd4d177252a21e645769d89f"]},"place":3}','6d789e637ad8eb2246eb21aaab4f9ddbf38732aba016fe53e61bfbaed2fbeafe','d339e9586883f596b35464f2bc6bf0f65ab79f8d4bb412ff405cb8a1a871a3c1');
INSERT INTO "log" VALUES(50,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[8,8,1,"5a2e7864162809d92076b7b3939eaee4b2ca9be1e6d15563a07297148f81e3ea"]},"place":4}','d339e9586883f596b35464f2bc6bf0f65ab79f8d4bb412ff405cb8a1a871a3c1','9f4eaff2a2318c1658a4a752f2d9bf1b6fd91f31d5d550bc8cd87a84b1afdb10');
INSERT INTO "log" VALUES(51,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[3,3,1,"7ee9193f3fa31e58b6ec116989875a688508623c8a3fd4bb809bad612c52dc8e"]},"place":5}','9f4eaff2a2318c1658a4a752f2d9bf1b6fd91f31d5d550bc8cd87a84b1afdb10','2eeef2f2317352b1e128c234d55895ae2dae9750627bed5ad75cf076ac10e5f4');
INSERT INTO "log" VALUES(52,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[4,4,1,"9a12d5b8270d8a46204fb006aab7848c3adc6ab8b6fb0f6c59a771caa60b383b"]},"place":6}','2eeef2f2317352b1e128c234d55895ae2dae9750627bed5ad75cf076ac10e5f4','4026049abc11004dad1fbf9ed3be5b557b353223c121fd039aa1d8e75b5c7fd6');
INSERT INTO "log" VALUES(53,'2026-11-22T13:43:00.000+00:00','CO','judged blind','session 1','{"facts":{"blind_judgements":[1,1,1,"d8d1b658c72221f0799319611a76230c4ee669efa3801cd2dc4714817015f66e"]},"judge":"judge-70b"}','4026049abc11004dad1fbf9ed3be5b557b353223c121fd039aa1d8e75b5c7fd6','6fe32791d5711016f2735fbe2652164482b4f70a77fb960be1a8d86e6d6016d7');
INSERT INTO "log" VALUES(54,'2026-11-22T13:43:00.000+00:00','CO','blind session closed','session 1','{"facts":{"blind_states":[3,3,1,"cd740fa66dfdeebdaa3732ac58597fd7af387bbbdb29e6c73e3c6d3324ae8a05"]}}','6fe32791d5711016f2735fbe2652164482b4f70a77fb960be1a8d86e6d6016d7','4f9515bfe731a170f73bdabeadfe7db052d184a0daa6dc0a128b1e6f5392f969');
INSERT INTO "log" VALUES(55,'2026-11-22T13:43:00.000+00:00','CO','scores recorded','cv','{"count":2,"model":"32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676"}','4f9515bfe731a170f73bdabeadfe7db052d184a0daa6dc0a128b1e6f5392f969','482bd0c935150fce0d45c2fe0b64374e06d1002e2fcbda89524c358593170a3b');
INSERT INTO "log" VALUES(56,'2026-11-22T13:43:00.000+00:00','CO','shown','item 5','{"facts":{"showings":[1,1,1,"a9a655a58f39a2f0d2efc3d741237878828ff51f0afcf5438ae9c3ad49d45fa4"]}}','482bd0c935150fce0d45c2fe0b64374e06d1002e2fcbda89524c358593170a3b','3dac8853775967ca1826a13e8135ce638039d7df18839b0502eac900bdcbf1f1');
INSERT INTO "log" VALUES(57,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[1,1,1,"8c9a093a30da0382117464dc4fcbc52651535e9aa1c18d6f80516c22738089e8"]}}','3dac8853775967ca1826a13e8135ce638039d7df18839b0502eac900bdcbf1f1','7718e27021a3fa56a655a12612e284317210b1f916baf08a27ec339ccadddcad');
INSERT INTO "log" VALUES(58,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[2,2,1,"1c53005a01bb53ee59dda99f81d84c3ee17eb7ea06bf092f2999f8e69ddda28f"]}}','7718e27021a3fa56a655a12612e284317210b1f916baf08a27ec339ccadddcad','3f2b0bb43717994093fbbdfd03cf5593ca4dbf00f41f6dbc283cdd482d4778c8');
INSERT INTO "log" VALUES(59,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[3,3,1,"d75784dd9557c803e7b40669c722197bf9e4738fc30323e40966b09b580a9819"]}}','3f2b0bb43717994093fbbdfd03cf5593ca4dbf00f41f6dbc283cdd482d4778c8','ad93edfa8e0a925dd410dc646c90c6af96d41b429aeff43707077afe5dc02461');
INSERT INTO "log" VALUES(60,'2026-11-22T13:43:00.000+00:00','CO','deactivated','JU','{"leases ended":0,"people":{"JU":"71fa373889d85396376de35e21d76b0837b7d2a186a1728601858749d2dd90c5"},"sessions ended":0}','ad93edfa8e0a925dd410dc646c90c6af96d41b429aeff43707077afe5dc02461','2a94fcea30b013ddeefc24d8a89ca77767e3c8bd1688677646fa07131bc28cf5');
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
INSERT INTO "marks" VALUES(1,'75c7a648e8c84a188973c548f7ffe22e',1,1,'s3','VO','hallucinated feature','=cmd|''x''!A1 and “quotes”','2026-11-22T12:00:00.000+00:00');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO "migrations" VALUES(1,'first schema','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(2,'blind sessions','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(3,'audit log','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(4,'work times','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(5,'inspections','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(6,'trust','2026-11-21T12:00:00.000+00:00');
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
INSERT INTO "people" VALUES('ZO','Zoë Ångström','["auditor", "reviewer"]','scrypt$15$8$3$25d36f7ff495a5248bd1dba316a3c18a$813e437236b601449adc5e7075e49cf3f623751cd9d680e53efe5c5f7533cfc8',1,'2026-11-21T12:00:00.000+00:00');
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
INSERT INTO "pictures" VALUES('72f029cb07a1704fd328e4dc99fd2609374fb8e520f9021f8d3bcc7d761a0296',X'89504E470D0A1A0A0000000D49484452000000030000000208020000001216F14D0000001549444154789C63646068606060606060606280010008BC00847A9A81500000000049454E44AE426082');
CREATE TABLE score_models (
    sha256 TEXT NOT NULL,
    task TEXT NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL CHECK (json_valid(model)),
    PRIMARY KEY (sha256, task)
) WITHOUT ROWID;
INSERT INTO "score_models" VALUES('32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','cv','2026-11-22T13:43:00.000+00:00','{"bias":0.1,"kind":"raw"}');
CREATE TABLE scores (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    p_yes REAL NOT NULL CHECK (p_yes BETWEEN 0 AND 1),
    -- Why no certificate covers the item; without reasons it can be ordered by value of information.
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),
    features TEXT NOT NULL CHECK (json_valid(features)),
    model TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "scores" VALUES(5,3.33333333333333314829e-01,'[]','{"vote": -2.2}','32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','2026-11-22T13:43:00.000+00:00');
INSERT INTO "scores" VALUES(6,0.75,'["S/N 2, expected 3 or more"]','{"vote": null}','32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','2026-11-22T13:43:00.000+00:00');
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('0e4da90df5a25b22fabefbaf46dabe39ef32062b3c84cd57425268cc6270d06a','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00');
INSERT INTO "sessions" VALUES('ba10803b3ac97a0bcf2dff6654c246d1ceec6149085c30d2dc2146b9e0d16947','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00',NULL);
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "settings" VALUES(1,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',NULL,'2026-11-25T14:44:57.838+00:00');
INSERT INTO "settings" VALUES(2,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 3}','CO','2026-11-21T12:00:00.000+00:00');
INSERT INTO "settings" VALUES(3,'campaign','{"name": "November", "classes": ["cv"]}','CO','2026-11-21T12:00:00.000+00:00');
CREATE TABLE showings (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    arm TEXT NOT NULL CHECK (arm IN ('random', 'value')),
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    at TEXT NOT NULL
);
INSERT INTO "showings" VALUES(1,'a showing''s key',5,'CO','value',1.0,'{"strata": [[0.0, 0.41666666666666663, 1, 1.0], [0.41666666666666663, 1.0, 0, 0.0]], "random_share": 0.2, "filter": {"task": "cv"}, "open": null}','2026-11-22T13:43:00.000+00:00');
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
INSERT INTO "spectra" VALUES('034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0000.fits','LAMOST','vacuum','observed','relative',0.0,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0001.fits','LAMOST','vacuum','observed','relative',0.01,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0002.fits','LAMOST','vacuum','observed','relative',0.02,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0003.fits','LAMOST','vacuum','observed','relative',0.03,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
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
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    passed INTEGER CHECK (passed IN (0, 1)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    result TEXT NOT NULL CHECK (json_valid(result))
);
INSERT INTO "trials" VALUES(1,'c78443879556bb6d2d3e601b6049e98340583cad22345ab13f8d9f0ee838c524',5,5,1,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
INSERT INTO "trials" VALUES(2,'853c5bfa20c4fef30382db968802cea9e55b9950f2168af77fe59b9209cf1e2a',6,6,0,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
INSERT INTO "trials" VALUES(3,'f00c52999bb85ebab21d99c4bd254aa817fedd8f4e02b81b95f99ecf296e30eb',8,8,NULL,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
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
INSERT INTO "versions" VALUES(1,'draft:sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',1,1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(2,'draft:sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',2,1,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(3,'draft:sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',3,1,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(4,'draft:sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',4,1,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(5,'draft:sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',5,1,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(6,'draft:sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',6,1,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(7,'draft:sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',7,1,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(8,'draft:sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',8,1,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(9,'draft:sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',9,1,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"gone.fits","sha256":null},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"baseline","name":"rule 1","settings":{}},"label":null,"label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Only its picture is left."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(10,'dfb77bfdd08c4be4b2bb8ad4fa89e5df',2,2,'sha256:91eb91d9d58a9c8383582a025b85dd13c8cef2b6fdb6681963adcaa162415f4f',2,'RE','clearer','2026-11-22T12:03:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Hα is narrow; the second look says so."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
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
CREATE INDEX scores_in_order ON scores (item, p_yes) WHERE reasons = '[]';
CREATE INDEX showings_by_item ON showings (item, id, at);
CREATE INDEX trials_by_item ON trials (item, id, passed);
CREATE TRIGGER showings_no_update BEFORE update ON showings BEGIN SELECT RAISE(ABORT, 'showings are facts: append, never update'); END;
CREATE TRIGGER showings_no_delete BEFORE delete ON showings BEGIN SELECT RAISE(ABORT, 'showings are facts: append, never delete'); END;
CREATE TRIGGER trials_no_update BEFORE update ON trials BEGIN SELECT RAISE(ABORT, 'trials are facts: append, never update'); END;
CREATE TRIGGER trials_no_delete BEFORE delete ON trials BEGIN SELECT RAISE(ABORT, 'trials are facts: append, never delete'); END;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1399869235;
